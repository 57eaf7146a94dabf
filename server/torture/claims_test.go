package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"redleaf/alloc/sqlstore"
	"redleaf/snowflake"
)

// claims are how many nodes want one of the layout's 1,024 worker ids at the same time.
const claims = 1100

// manyClaims has them do so on a database of its own.
var manyClaims = fault{"1,100 nodes claim a worker id at once, of 1,024", "1,024 have one, 76 refuse", wait + slack, true, claimMany}

func claimMany(w *world, _ *rand.Rand) (err error) {
	url := w.db.Database(w.t)
	var stores [8]*sqlstore.Store
	for i := range stores {
		if stores[i], err = sqlstore.Open(w.t.Context(), url, sqlstore.Options{StatementTimeout: time.Minute}); err != nil {
			return err
		}
		defer stores[i].Close()
	}
	var mu sync.Mutex // protects what follows
	var errs []error
	drawn, refused := map[int64]bool{}, 0
	var nodes []*snowflake.Node
	var starting sync.WaitGroup
	for i := range claims {
		starting.Go(func() {
			n, err := snowflake.Start(w.t.Context(), stores[i%len(stores)], snowflake.Config{StatementTimeout: time.Minute, Window: time.Minute})
			var id int64
			if err == nil {
				err = n.Draw(w.t.Context(), 1, func(first, _ int64) { id = first })
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, snowflake.ErrNoWorker):
				refused++
			case err != nil:
				errs = append(errs, err)
			default:
				nodes = append(nodes, n)
				drawn[id] = true
			}
		})
	}
	starting.Wait()
	// Windows of the first may have passed before the last asked, where the machine is slow.
	if len(drawn) != len(nodes) || len(nodes)+refused != claims || refused < claims-1024 {
		errs = append(errs, fmt.Errorf("%d nodes drew %d different ids, %d were refused", len(nodes), len(drawn), refused))
	}
	for _, n := range nodes {
		starting.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_ = n.Close(ctx) // what it leaves behind nobody uses
		})
	}
	starting.Wait()
	return errors.Join(errs...)
}
