package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redleaf/alloc"
)

// strictWorld is a store with the nodes on it, and a tag that is strict.
type strictWorld struct {
	t       *testing.T
	store   *alloc.MemStore
	stricts *alloc.MemStricts
}

// cutStricts can be cut off from the store, as a node in a partition is.
type cutStricts struct {
	alloc.Stricts
	cut atomic.Bool
}

func (c *cutStricts) check(ctx context.Context) error {
	if c.cut.Load() {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (c *cutStricts) StrictTags(ctx context.Context) ([]alloc.StrictTag, error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	return c.Stricts.StrictTags(ctx)
}

func (c *cutStricts) StrictTag(ctx context.Context, tag string) (alloc.StrictTag, error) {
	if err := c.check(ctx); err != nil {
		return alloc.StrictTag{}, err
	}
	return c.Stricts.StrictTag(ctx, tag)
}

func (c *cutStricts) Hold(ctx context.Context, seen alloc.StrictTag, holder int64, addr string) (bool, error) {
	if err := c.check(ctx); err != nil {
		return false, err
	}
	return c.Stricts.Hold(ctx, seen, holder, addr)
}

func (c *cutStricts) RenewHolds(ctx context.Context, holder int64) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	return c.Stricts.RenewHolds(ctx, holder)
}

func newStrictWorld(t *testing.T) *strictWorld {
	w := &strictWorld{t, alloc.NewMemStore(), alloc.NewMemStricts()}
	if err := w.store.Create(t.Context(), "t", 100, 0); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *strictWorld) node(name string) (*alloc.Allocator, *cutStricts) {
	w.t.Helper()
	a := alloc.New(w.store, alloc.Config{})
	c := &cutStricts{Stricts: w.stricts}
	if err := a.ServeStrict(w.t.Context(), c, name, name+":1"); err != nil {
		w.t.Fatal(err)
	}
	return a, c
}

func drawStrict(t *testing.T, a *alloc.Allocator) int64 {
	t.Helper()
	id, err := drawOneStrict(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func drawOneStrict(ctx context.Context, a *alloc.Allocator) (id int64, err error) {
	err = a.Draw(ctx, "t", 1, func(first, _ int64) { id = first })
	return id, err
}

func wantHeld(t *testing.T, a *alloc.Allocator, addr string) {
	t.Helper()
	id, err := drawOneStrict(t.Context(), a)
	if held, ok := errors.AsType[*alloc.HeldError](err); !ok || held.Addr != addr || !errors.Is(err, alloc.ErrUnavailable) {
		t.Fatalf("drew %d, %v; want an error that names %s", id, err, addr)
	}
}

func closeNode(t *testing.T, a *alloc.Allocator) {
	t.Helper()
	if _, err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestStrict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStrictWorld(t)
		a, _ := w.node("a")
		b, _ := w.node("b")
		if got := []int64{drawStrict(t, a), drawStrict(t, b), drawStrict(t, a)}; fmt.Sprint(got) != "[1 101 2]" {
			t.Fatalf("before it is strict: %v", got)
		}
		begun := time.Now()
		if err := a.MakeStrict(t.Context(), "t", true); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 1100*time.Millisecond {
			t.Errorf("making a tag strict took %v", took)
		}
		if got := drawStrict(t, b); got != 201 {
			t.Fatalf("the first id of the strict tag: %d", got)
		}
		wantHeld(t, a, "b:1")
		begun = time.Now()
		if wantHeld(t, a, "b:1"); time.Since(begun) != 0 {
			t.Errorf("refused after %v, just after another was", time.Since(begun))
		}
		if _, err := a.Reserve(t.Context(), "t", 5); !errors.Is(err, alloc.ErrUnavailable) {
			t.Errorf("reserving where it is not served: %v", err)
		}
		if err := a.Set(t.Context(), "t", 5000); !errors.Is(err, alloc.ErrUnavailable) {
			t.Errorf("SET where it is not served: %v", err)
		}
		if s, err := a.Status(t.Context(), "t"); err != nil || !s.Strict || s.Holder != "b:1" {
			t.Errorf("status: %+v, %v", s, err)
		}
		time.Sleep(time.Minute - time.Second) // the hold is renewed while the tag is asked for
		for range 60 {
			time.Sleep(time.Second)
			drawStrict(t, b)
		}
		if err := b.Set(t.Context(), "t", 5000); err != nil {
			t.Fatal(err)
		}
		if got := drawStrict(t, b); got != 5001 {
			t.Errorf("after SET: %d", got)
		}
		closeNode(t, b) // gives back, and leaves the tag to others
		if got := drawStrict(t, a); got != 5002 {
			t.Errorf("after the other has stopped: %d", got)
		}
		closeNode(t, a)
	})
}

// A node that can't renew its hold draws no more before another may, even if it does not know.
func TestStrictTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStrictWorld(t)
		a, cut := w.node("a")
		b, _ := w.node("b")
		if err := a.MakeStrict(t.Context(), "t", true); err != nil {
			t.Fatal(err)
		}
		drawStrict(t, a)
		time.Sleep(1500 * time.Millisecond)
		cut.cut.Store(true)
		begun := time.Now()
		var last, first int64
		var ended, took time.Duration
		for time.Since(begun) < 10*time.Second {
			if id, got := a.Take([]byte("t"), 1); got > 0 {
				if last = id; first != 0 {
					t.Fatalf("%d after the other has drawn %d", id, first)
				}
			} else if ended == 0 {
				ended = time.Since(begun)
			}
			if id, err := drawOneStrict(t.Context(), b); err == nil && took == 0 {
				first, took = id, time.Since(begun)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if first <= last || ended < 2*time.Second || ended > 3100*time.Millisecond || took <= ended || took > 6*time.Second {
			t.Errorf("cut off it drew up to %d for %v; the other drew %d after %v", last, ended, first, took)
		}
		cut.cut.Store(false)
		closeNode(t, b)
		if got := drawStrict(t, a); got <= first {
			t.Errorf("%d after %d", got, first)
		}
		closeNode(t, a)
	})
}

// A node that has not heard that the tag is strict keeps it from being so; one of which nothing is known does not.
func TestStrictUnconfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStrictWorld(t)
		a, _ := w.node("a")
		b, cut := w.node("b")
		drawStrict(t, b)
		cut.cut.Store(true)
		err := a.MakeStrict(t.Context(), "t", true)
		unconfirmed, ok := errors.AsType[*alloc.UnconfirmedError](err)
		if !ok || len(unconfirmed.Nodes) != 1 || unconfirmed.Nodes[0].Addr != "b:1" || !strings.Contains(err.Error(), "--forget b") {
			t.Fatalf("with a node that does not know: %v", err)
		}
		cut.cut.Store(false)
		if err := a.MakeStrict(t.Context(), "t", true); err != nil {
			t.Fatalf("once it does: %v", err)
		}
		if _, got := b.Take([]byte("t"), 1); got > 0 {
			t.Error("the other still draws from what it had")
		}
		// Off and on again: what was drawn meanwhile is below all that is drawn then.
		if err := b.MakeStrict(t.Context(), "t", false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		high := max(drawStrict(t, a), drawStrict(t, b))
		if err := b.MakeStrict(t.Context(), "t", true); err != nil {
			t.Fatal(err)
		}
		if got := drawStrict(t, a); got <= high {
			t.Errorf("%d after %d", got, high)
		}
		if err := a.MakeStrict(t.Context(), "none", true); !errors.Is(err, alloc.ErrNoTag) {
			t.Errorf("a tag that is not there: %v", err)
		}
		if err := a.Delete(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		if rows, err := w.stricts.StrictTags(t.Context()); err != nil || rows[0].Strict {
			t.Errorf("deleted: %+v, %v", rows, err)
		}
		closeNode(t, a)
		closeNode(t, b)
	})
}

// A tag that nobody asks for, or that its node yields, is there for others without a gap.
func TestStrictYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStrictWorld(t)
		a, _ := w.node("a")
		b, _ := w.node("b")
		if err := a.MakeStrict(t.Context(), "t", true); err != nil {
			t.Fatal(err)
		}
		drawStrict(t, a)
		if got := a.Held(); len(got) != 1 || got[0] != "t" || !b.AnyStrict() || !b.Strict([]byte("t")) || b.Strict([]byte("u")) {
			t.Errorf("a holds %v", got)
		}
		a.Yield("t")
		if got := drawStrict(t, b); got != 2 {
			t.Errorf("after the other yielded: %d", got)
		}
		time.Sleep(15 * time.Second)
		if got := drawStrict(t, a); got != 3 {
			t.Errorf("after the other was not asked for a while: %d", got)
		}
		closeNode(t, a)
		closeNode(t, b)
	})
}

// shakyStricts does to strict tags what shakyStore does to the rest, and can be cut off.
type shakyStricts struct {
	*alloc.MemStricts
	shaky *shakyStore
	cut   *atomic.Bool
}

func shakenStrict[T any](s shakyStricts, ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	if s.cut.Load() {
		var none T
		<-ctx.Done()
		return none, ctx.Err()
	}
	return shaken(s.shaky, ctx, do)
}

func (s shakyStricts) StrictTags(ctx context.Context) ([]alloc.StrictTag, error) {
	return shakenStrict(s, ctx, s.MemStricts.StrictTags)
}

func (s shakyStricts) StrictTag(ctx context.Context, tag string) (alloc.StrictTag, error) {
	return shakenStrict(s, ctx, func(ctx context.Context) (alloc.StrictTag, error) { return s.MemStricts.StrictTag(ctx, tag) })
}

func (s shakyStricts) Hold(ctx context.Context, seen alloc.StrictTag, holder int64, addr string) (bool, error) {
	return shakenStrict(s, ctx, func(ctx context.Context) (bool, error) { return s.MemStricts.Hold(ctx, seen, holder, addr) })
}

func (s shakyStricts) RenewHolds(ctx context.Context, holder int64) error {
	_, err := shakenStrict(s, ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.MemStricts.RenewHolds(ctx, holder)
	})
	return err
}

func (s shakyStricts) MakeStrict(ctx context.Context, tag string, strict bool) (int64, error) {
	return shakenStrict(s, ctx, func(ctx context.Context) (int64, error) { return s.MemStricts.MakeStrict(ctx, tag, strict) })
}

// strictSimulations is how many random schedules are played. A failure names its seed.
const strictSimulations = 500

// A draw that begins after another has ended, anywhere, gives a higher id: through lost and late statements, nodes cut off
// from the store, stops, crashes and starts.
func TestStrictSimulation(t *testing.T) {
	for seed := range uint64(strictSimulations) {
		synctest.Test(t, func(t *testing.T) { simulateStrict(t, seed) })
		if t.Failed() {
			return
		}
	}
}

func simulateStrict(t *testing.T, seed uint64) {
	w := newStrictWorld(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	shaky := &shakyStore{Store: w.store, rng: rand.New(rand.NewPCG(seed, 1))}
	if _, err := w.stricts.MakeStrict(t.Context(), "t", true); err != nil {
		t.Fatal(err)
	}
	var highest atomic.Int64 // that somebody got
	var drawn atomic.Int64
	client := func(a *alloc.Allocator, dice *rand.Rand, done <-chan struct{}) {
		for {
			before := highest.Load()
			var id int64
			var err error
			if dice.IntN(8) == 0 {
				id, err = a.Reserve(t.Context(), "t", 1+dice.Int64N(300))
			} else {
				id, err = drawOneStrict(t.Context(), a)
			}
			if err == nil {
				if id <= before {
					t.Errorf("seed %d: %d was drawn after somebody had got %d", seed, id, before)
				}
				for now := highest.Load(); id > now && !highest.CompareAndSwap(now, id); now = highest.Load() {
				}
				drawn.Add(1)
			}
			timer := time.NewTimer(time.Duration(dice.IntN(400)) * time.Millisecond)
			select {
			case <-timer.C:
			case <-done:
				return
			}
		}
	}
	var clients sync.WaitGroup
	live := func(dice *rand.Rand, name string) { // one life of a node
		a := alloc.New(shaky, alloc.Config{Step: 10})
		s := shakyStricts{w.stricts, shaky, new(atomic.Bool)}
		if err := a.ServeStrict(t.Context(), s, name, name+":1"); err != nil {
			a.Close(t.Context())
			return
		}
		done := make(chan struct{})
		var mine sync.WaitGroup
		for range 2 {
			d := rand.New(rand.NewPCG(dice.Uint64(), 2))
			mine.Go(func() { client(a, d, done) })
		}
		for range 3 + dice.IntN(5) {
			time.Sleep(time.Duration(dice.IntN(5000)) * time.Millisecond)
			switch dice.IntN(4) {
			case 0:
				s.cut.Store(!s.cut.Load())
			case 1:
				a.Yield("t")
			case 2:
				a.MakeStrict(t.Context(), "t", true)
			}
		}
		if dice.IntN(3) == 0 { // crashes: it says nothing any more
			s.cut.Store(true)
		}
		close(done)
		mine.Wait()
		a.Close(t.Context())
	}
	for i := range 3 {
		dice := rand.New(rand.NewPCG(rng.Uint64(), 3))
		clients.Go(func() {
			for life := range 3 {
				live(dice, fmt.Sprint("n", i, ".", life))
			}
		})
	}
	clients.Wait()
	if drawn.Load() == 0 && seed == 0 {
		t.Errorf("seed %d: nothing was drawn", seed)
	}
	time.Sleep(time.Minute) // what is on its way arrives
}
