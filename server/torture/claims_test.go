package torture

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
)

// manyClaims has more worker ids claimed at once than there are, on a database of its own.
var manyClaims = fault{"1,100 worker ids claimed at once, of 1,024", "10 of 11 nodes start, one refuses", wait + slack, true, claimMany}

func claimMany(w *world, _ *rand.Rand) error {
	const nodes, workers = 11, 100
	store := w.db.Database(w.t)
	var all [nodes]*node
	started := make(chan error, nodes)
	for i := range all {
		all[i] = w.newNode(store, "--workers", fmt.Sprint(workers), "--window", "30s", "--statement-timeout", "10s")
		go func() { started <- all[i].start() }()
	}
	refused := 0
	var errs []error
	for range all {
		switch err := <-started; {
		case err == nil:
		case strings.Contains(err.Error(), "no free worker id"):
			refused++
		default:
			errs = append(errs, err)
		}
	}
	if refused != 1 {
		errs = append(errs, fmt.Errorf("%d nodes were refused", refused))
	}
	var claimed, distinct int
	row := w.db.Open(w.t, store).QueryRow("SELECT COUNT(*), COUNT(DISTINCT worker_id) FROM leaf_worker")
	errs = append(errs, row.Scan(&claimed, &distinct))
	if claimed != distinct || claimed > 1024 {
		errs = append(errs, fmt.Errorf("%d rows of %d worker ids", claimed, distinct))
	}
	for _, n := range all {
		n.kill()
	}
	return errors.Join(errs...)
}
