package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redleaf/alloc"
)

// simulations is how many random schedules each variant plays. A failure names its seed.
const simulations = 1500

var errLost = errors.New("connection lost")

// shakyStore fails, delays, loses replies, and carries statements out after their caller gave up, as a seed says.
type shakyStore struct {
	alloc.Store
	mu  sync.Mutex // protects rng
	rng *rand.Rand
}

func (s *shakyStore) intn(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(n)
}

// shaken carries out one statement in whatever way the dice say.
func shaken[T any](s *shakyStore, ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	var none T
	switch s.intn(10) {
	case 0: // it never arrives
		return none, errLost
	case 1: // it is carried out, and the reply is lost
		do(ctx)
		return none, errLost
	case 2: // it arrives when its caller may have given up
		delay := time.Duration(s.intn(4000)) * time.Millisecond
		reply := make(chan func() (T, error), 1)
		go func() {
			time.Sleep(delay)
			v, err := do(context.WithoutCancel(ctx))
			reply <- func() (T, error) { return v, err }
		}()
		select {
		case r := <-reply:
			return r()
		case <-ctx.Done():
			return none, ctx.Err()
		}
	case 3: // the reply is slow
		v, err := do(ctx)
		time.Sleep(time.Duration(s.intn(1500)) * time.Millisecond)
		return v, err
	}
	return do(ctx)
}

func (s *shakyStore) Lease(ctx context.Context, tag string, n int64) (alloc.Range, error) {
	return shaken(s, ctx, func(ctx context.Context) (alloc.Range, error) { return s.Store.Lease(ctx, tag, n) })
}

func (s *shakyStore) Lookup(ctx context.Context, tag string) (alloc.Row, error) {
	return shaken(s, ctx, func(ctx context.Context) (alloc.Row, error) { return s.Store.Lookup(ctx, tag) })
}

func (s *shakyStore) Create(ctx context.Context, tag string, step, maxTags int64) error {
	return s.shakenErr(ctx, func(ctx context.Context) error { return s.Store.Create(ctx, tag, step, maxTags) })
}

func (s *shakyStore) Advance(ctx context.Context, tag string, maxID, step int64) error {
	return s.shakenErr(ctx, func(ctx context.Context) error { return s.Store.Advance(ctx, tag, maxID, step) })
}

func (s *shakyStore) Retire(ctx context.Context, tag string) error {
	return s.shakenErr(ctx, func(ctx context.Context) error { return s.Store.Retire(ctx, tag) })
}

func (s *shakyStore) GiveBack(ctx context.Context, tag string, end, next int64) (bool, error) {
	return shaken(s, ctx, func(ctx context.Context) (bool, error) { return s.Store.GiveBack(ctx, tag, end, next) })
}

func (s *shakyStore) shakenErr(ctx context.Context, do func(context.Context) error) error {
	_, err := shaken(s, ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}

// ledger keeps every id that left an allocator, over all nodes and lives.
type ledger struct {
	mu  sync.Mutex // protects ids
	ids map[string]map[int64]string
	bad []string
}

func (l *ledger) issued(node, tag string, first, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids[tag] == nil {
		l.ids[tag] = map[int64]string{}
	}
	for id := first; id < first+n; id++ {
		if id < 1 {
			l.bad = append(l.bad, fmt.Sprintf("%s: id %d", node, id))
		}
		if other, ok := l.ids[tag][id]; ok {
			l.bad = append(l.bad, fmt.Sprintf("%s id %d: issued by %s and by %s", tag, id, other, node))
		}
		l.ids[tag][id] = node
	}
}

// simulation is one random schedule on one store.
type simulation struct {
	t     *testing.T
	rng   *rand.Rand
	store alloc.Store
	books *ledger
	tags  []string
	admin bool // SET and DEL take part
}

func newSimulation(t *testing.T, seed uint64, mem *alloc.MemStore) *simulation {
	rng := rand.New(rand.NewPCG(seed, 7))
	return &simulation{
		t: t, rng: rng, books: &ledger{ids: map[string]map[int64]string{}}, tags: []string{"a", "b"},
		store: &shakyStore{Store: mem, rng: rand.New(rand.NewPCG(seed, 8))},
	}
}

// life runs one allocator with a few clients until each has made its calls; it ends by Close or by being forgotten, as
// a crash does.
func (s *simulation) life(name string, crash bool) {
	a := alloc.New(s.store, alloc.Config{
		AutoCreate: true, Step: 1 + s.rng.Int64N(20), MaxStep: 64, MaxBatch: 100, StatementTimeout: 2 * time.Second,
	})
	var clients sync.WaitGroup
	for c := range 3 {
		rng := rand.New(rand.NewPCG(s.rng.Uint64(), uint64(c)))
		clients.Go(func() { s.client(a, name, rng) })
	}
	if crash {
		time.Sleep(time.Duration(s.rng.IntN(3000)) * time.Millisecond)
		// A crashed node answers nobody; what its clients draw below never left the process. Its statements under way
		// may still be carried out. Closing after that only ends its goroutines: ctx is done, so nothing is given back.
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		a.Close(ended)
		clients.Wait()
		return
	}
	clients.Wait()
	a.Close(context.Background())
}

func (s *simulation) client(a *alloc.Allocator, node string, rng *rand.Rand) {
	last := map[string]int64{}
	note := func(tag string, first, n int64) {
		if first <= last[tag] {
			s.t.Errorf("%s, tag %s: id %d after %d", node, tag, first, last[tag])
		}
		last[tag] = first + n - 1
		s.books.issued(node, tag, first, n)
	}
	ctx := context.Background()
	for range 25 {
		tag := s.tags[rng.IntN(len(s.tags))]
		switch dice := rng.IntN(20); {
		case dice < 8:
			if first, n := a.Take([]byte(tag), 1+rng.Int64N(8)); n > 0 {
				note(tag, first, n)
			}
		case dice < 14:
			a.Draw(ctx, tag, 1+rng.Int64N(30), func(first, n int64) { note(tag, first, n) })
		case dice < 17:
			n := 1 + rng.Int64N(60)
			if first, err := a.Reserve(ctx, tag, n); err == nil {
				note(tag, first, n)
			}
		case dice == 17 && s.admin:
			status, _ := a.Status(ctx, tag)
			a.Set(ctx, tag, status.Row.MaxID+rng.Int64N(30))
		case dice == 18 && s.admin:
			a.Delete(ctx, tag)
		default:
			time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
		}
	}
}

func (s *simulation) check(seed uint64) {
	for _, complaint := range s.books.bad {
		s.t.Errorf("%s", complaint)
	}
	if s.t.Failed() {
		s.t.Fatalf("seed %d", seed)
	}
}

// Several nodes, living and dying one after the other and side by side, on a store that fails, delays, and loses
// replies: no id twice, and rising ids for every client.
func TestSimulationOfNodesOnAShakyStore(t *testing.T) {
	var ids int
	for seed := range uint64(simulations) {
		synctest.Test(t, func(t *testing.T) {
			s := newSimulation(t, seed, alloc.NewMemStore())
			s.admin = true
			var nodes sync.WaitGroup
			for n := range 1 + s.rng.IntN(3) {
				lives, crashes := 1+s.rng.IntN(3), s.rng.Uint64()
				rng := s.rng.Uint64()
				nodes.Go(func() {
					mine := *s
					mine.rng = rand.New(rand.NewPCG(rng, 9))
					for life := range lives {
						mine.life(fmt.Sprintf("node %d life %d", n, life), crashes>>life&1 == 1)
					}
				})
			}
			nodes.Wait()
			time.Sleep(10 * time.Second) // statements that were late
			s.check(seed)
			for _, tag := range s.tags {
				ids += len(s.books.ids[tag])
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d ids in %d schedules", ids, simulations)
}

// A store that loses acknowledged writes while one node lives: the node issues nothing twice.
func TestSimulationOfAStoreThatGoesBackwards(t *testing.T) {
	var stopped int64
	for seed := range uint64(simulations) {
		synctest.Test(t, func(t *testing.T) {
			mem := alloc.NewMemStore()
			s := newSimulation(t, seed, mem)
			a := alloc.New(s.store, alloc.Config{AutoCreate: true, Step: 1 + s.rng.Int64N(20), MaxStep: 64, MaxBatch: 100})
			var clients sync.WaitGroup
			for c := range uint64(3) {
				clients.Go(func() { s.client(a, "node", rand.New(rand.NewPCG(seed, c))) })
			}
			for range 1 + s.rng.IntN(3) {
				backup := mem.Snapshot()
				time.Sleep(time.Duration(s.rng.IntN(3000)) * time.Millisecond)
				mem.Restore(backup)
			}
			clients.Wait()
			stopped += a.Totals().Backwards
			a.Close(context.Background())
			time.Sleep(10 * time.Second)
			s.check(seed)
		})
		if t.Failed() {
			return
		}
	}
	if stopped == 0 {
		t.Error("no schedule noticed that the store went backwards: the test tests nothing")
	}
}
