package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redleaf/alloc"
)

// hooked is a store whose Lease a test can replace.
type hooked struct {
	alloc.Store
	lease func(ctx context.Context, tag string, n int64) (alloc.Range, error)
}

func (h *hooked) Lease(ctx context.Context, tag string, n int64) (alloc.Range, error) {
	return h.lease(ctx, tag, n)
}

// started returns an allocator with automatic creation on a store; the test's end closes it.
func started(t *testing.T, store alloc.Store, change ...func(*alloc.Config)) *alloc.Allocator {
	t.Helper()
	cfg := alloc.Config{AutoCreate: true}
	for _, c := range change {
		c(&cfg)
	}
	a := alloc.New(store, cfg)
	t.Cleanup(func() { a.Close(context.Background()) })
	return a
}

// draw draws n ids and returns them one by one.
func draw(t *testing.T, a *alloc.Allocator, tag string, n int64) []int64 {
	t.Helper()
	ids, err := tryDraw(t.Context(), a, tag, n)
	if err != nil {
		t.Fatalf("Draw(%s, %d): %v", tag, n, err)
	}
	return ids
}

func tryDraw(ctx context.Context, a *alloc.Allocator, tag string, n int64) (ids []int64, err error) {
	err = a.Draw(ctx, tag, n, func(first, n int64) {
		for i := range n {
			ids = append(ids, first+i)
		}
	})
	return ids, err
}

func upTo(first, last int64) (ids []int64) {
	for id := first; id <= last; id++ {
		ids = append(ids, id)
	}
	return ids
}

func TestFirstIDIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, alloc.NewMemStore())
		for _, want := range []int64{1, 2, 3} {
			if got := draw(t, a, "orders", 1); got[0] != want {
				t.Fatalf("drew %d, want %d", got[0], want)
			}
		}
	})
}

func TestDrawAcrossSegments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, alloc.NewMemStore())
		var got []int64
		for len(got) < 100_000 {
			got = append(got, draw(t, a, "orders", 777)...)
		}
		if want := upTo(1, int64(len(got))); !slices.Equal(got, want) {
			t.Error("the only node's ids have gaps")
		}
	})
}

func TestTakeNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, alloc.NewMemStore())
		if _, got := a.Take([]byte("orders"), 1); got != 0 {
			t.Fatalf("took %d of a tag nobody has opened", got)
		}
		draw(t, a, "orders", 1)
		first, got := a.Take([]byte("orders"), 5000)
		if first != 2 || got != 999 {
			t.Errorf("took %d from %d, want the 999 left of the segment", got, first)
		}
	})
}

func TestRefillStartsInTheBackgroundAtATenth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var leases atomic.Int64
		mem := alloc.NewMemStore()
		a := started(t, &hooked{mem, func(ctx context.Context, tag string, n int64) (alloc.Range, error) {
			leases.Add(1)
			return mem.Lease(ctx, tag, n)
		}})
		draw(t, a, "orders", 99)
		synctest.Wait()
		if leases.Load() != 1 {
			t.Fatalf("%d leases after 99 of 1000 ids, want 1", leases.Load())
		}
		draw(t, a, "orders", 1)
		synctest.Wait()
		if leases.Load() != 2 {
			t.Fatalf("%d leases after 100 of 1000 ids, want 2", leases.Load())
		}
		draw(t, a, "orders", 800)
		synctest.Wait()
		if leases.Load() != 2 {
			t.Errorf("%d leases while a segment stands ready, want 2", leases.Load())
		}
	})
}

// A store that hangs costs callers of the tag Config.Wait, and nobody else anything.
func TestWaitersHaveADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		a := started(t, &hooked{mem, func(ctx context.Context, tag string, n int64) (alloc.Range, error) {
			if tag == "stuck" {
				<-ctx.Done()
				return alloc.Range{}, ctx.Err()
			}
			return mem.Lease(ctx, tag, n)
		}})
		begun := time.Now()
		var waiting sync.WaitGroup
		for range 100 {
			waiting.Go(func() {
				_, err := tryDraw(t.Context(), a, "stuck", 1)
				if !errors.Is(err, alloc.ErrUnavailable) {
					t.Errorf("got %v, want ErrUnavailable", err)
				}
			})
		}
		synctest.Wait()
		draw(t, a, "other", 10)
		if time.Since(begun) != 0 {
			t.Errorf("another tag waited %v", time.Since(begun))
		}
		waiting.Wait()
		if got := time.Since(begun); got != time.Second {
			t.Errorf("waited %v, want 1s", got)
		}
	})
}

// The commands of one pipeline share a deadline: the second does not wait another second.
func TestAPipelinesDeadlineIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		a := started(t, &hooked{mem, func(ctx context.Context, _ string, _ int64) (alloc.Range, error) {
			<-ctx.Done()
			return alloc.Range{}, ctx.Err()
		}})
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range 1000 {
			if _, err := tryDraw(ctx, a, "orders", 1); !errors.Is(err, alloc.ErrUnavailable) {
				t.Fatalf("got %v, want ErrUnavailable", err)
			}
		}
		if got := time.Since(begun); got != time.Second {
			t.Errorf("1000 calls took %v, want 1s", got)
		}
	})
}

// While the store is away the tag serves what it holds; callers that wait get ids as soon as the store is back, and
// the tries are few.
func TestStoreAwayAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		var away atomic.Bool
		var tries atomic.Int64
		a := started(t, &hooked{mem, func(ctx context.Context, tag string, n int64) (alloc.Range, error) {
			tries.Add(1)
			if away.Load() {
				return alloc.Range{}, errors.New("connection refused")
			}
			return mem.Lease(ctx, tag, n)
		}})
		draw(t, a, "orders", 1)
		away.Store(true)
		tries.Store(0)
		draw(t, a, "orders", 999)
		begun := time.Now()
		for time.Since(begun) < 10*time.Second {
			if _, err := tryDraw(t.Context(), a, "orders", 1); !errors.Is(err, alloc.ErrUnavailable) {
				t.Fatalf("got %v, want ErrUnavailable", err)
			}
		}
		if n := tries.Load(); n < 10 || n > 100 {
			t.Errorf("%d tries in 10 s, want some tens", n)
		}
		back := time.AfterFunc(300*time.Millisecond, func() { away.Store(false) })
		defer back.Stop()
		begun = time.Now()
		if got := draw(t, a, "orders", 1); got[0] != 1001 {
			t.Errorf("drew %d, want 1001", got[0])
		}
		if waited := time.Since(begun); waited > 800*time.Millisecond {
			t.Errorf("waited %v for a store that was back after 300 ms", waited)
		}
	})
}

// A failed background refill of a tag that nobody draws from is not tried again and again.
func TestIdleTagsLeaveAStoreInTroubleAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		var away atomic.Bool
		var tries atomic.Int64
		a := started(t, &hooked{mem, func(ctx context.Context, tag string, n int64) (alloc.Range, error) {
			tries.Add(1)
			if away.Load() {
				return alloc.Range{}, errors.New("connection refused")
			}
			return mem.Lease(ctx, tag, n)
		}})
		draw(t, a, "orders", 1)
		away.Store(true)
		tries.Store(0)
		draw(t, a, "orders", 500)
		time.Sleep(time.Hour)
		if tries.Load() != 1 {
			t.Errorf("%d tries in an idle hour, want 1", tries.Load())
		}
		away.Store(false)
		draw(t, a, "orders", 1)
		synctest.Wait()
		if tries.Load() != 2 {
			t.Errorf("%d tries after the next draw, want 2", tries.Load())
		}
	})
}

func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, alloc.NewMemStore())
		draw(t, a, "orders", 10)
		first, err := a.Reserve(t.Context(), "orders", 80)
		if err != nil || first != 11 {
			t.Fatalf("Reserve(80) = %d, %v, want 11 from the current segment", first, err)
		}
		if first, err = a.Reserve(t.Context(), "orders", 5000); err != nil {
			t.Fatal(err)
		}
		next := draw(t, a, "orders", 1)[0]
		if next != first+5000 {
			t.Errorf("after a reservation of 5000 from %d the next id is %d", first, next)
		}
		status, err := a.Status(t.Context(), "orders")
		if err != nil || status.NextStep > 2000 {
			t.Errorf("status %+v, %v: a reservation moved the step", status, err)
		}
	})
}

func TestReserveAndDrawNeverOverlap(t *testing.T) {
	a := started(t, alloc.NewMemStore())
	var mu sync.Mutex // protects all
	var all []int64
	var working sync.WaitGroup
	for w := range 8 {
		working.Go(func() {
			var mine []int64
			for i := range 300 {
				if w%2 == 0 {
					ids, err := tryDraw(t.Context(), a, "orders", int64(1+i%40))
					if err != nil {
						t.Error(err)
						return
					}
					mine = append(mine, ids...)
					continue
				}
				n := int64(1 + (i*37)%2500)
				first, err := a.Reserve(t.Context(), "orders", n)
				if err != nil {
					t.Error(err)
					return
				}
				mine = append(mine, upTo(first, first+n-1)...)
			}
			if !slices.IsSorted(mine) {
				t.Error("ids do not rise for one caller")
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	working.Wait()
	slices.Sort(all)
	if unique := len(slices.Compact(slices.Clone(all))); unique != len(all) {
		t.Errorf("%d of %d ids were issued twice", len(all)-unique, len(all))
	}
}

func TestUnknownTagWithoutAutoCreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := &countingStore{Store: alloc.NewMemStore()}
		a := started(t, mem, func(c *alloc.Config) { c.AutoCreate = false })
		for range 100 {
			if _, err := tryDraw(t.Context(), a, "orders", 1); !errors.Is(err, alloc.ErrNoTag) {
				t.Fatalf("got %v, want ErrNoTag", err)
			}
		}
		if mem.lookups != 1 {
			t.Errorf("%d look-ups of one unknown tag in a moment, want 1", mem.lookups)
		}
		// Somebody else creates it: it is found within moments.
		if err := mem.Create(t.Context(), "orders", 1000, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if got := draw(t, a, "orders", 1); got[0] != 1 {
			t.Errorf("drew %d, want 1", got[0])
		}
	})
}

type countingStore struct {
	alloc.Store
	lookups int
}

func (c *countingStore) Lookup(ctx context.Context, tag string) (alloc.Row, error) {
	c.lookups++
	return c.Store.Lookup(ctx, tag)
}

func TestMaxTags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, alloc.NewMemStore(), func(c *alloc.Config) { c.MaxTags = 3 })
		for i := range 3 {
			draw(t, a, fmt.Sprint("tag", i), 1)
		}
		if _, err := tryDraw(t.Context(), a, "one more", 1); !errors.Is(err, alloc.ErrTooManyTags) {
			t.Errorf("got %v, want ErrTooManyTags", err)
		}
		draw(t, a, "tag1", 1)
	})
}

func TestSetMovesForwardOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, alloc.NewMemStore(), func(c *alloc.Config) { c.AutoCreate = false })
		set := func(n int64) error { return a.Set(t.Context(), "orders", n) }
		if err := set(0); err != nil {
			t.Fatalf("creating: %v", err)
		}
		if got := draw(t, a, "orders", 1); got[0] != 1 {
			t.Errorf("after SET 0 drew %d, want 1", got[0])
		}
		if err := set(4999); err != nil {
			t.Fatal(err)
		}
		if got := draw(t, a, "orders", 2); got[0] != 5000 {
			t.Errorf("after SET 4999 drew %d, want 5000", got[0])
		}
		floor, ok := errors.AsType[*alloc.FloorError](set(5000))
		if !ok || floor.Floor != 5999 {
			t.Errorf("SET below what is leased: %v, want a floor of 5999", floor)
		}
		if err := set(floor.Floor); err != nil {
			t.Errorf("SET to the floor: %v", err)
		}
		if got := draw(t, a, "orders", 1); got[0] != floor.Floor+1 {
			t.Errorf("after SET to the floor drew %d, want %d", got[0], floor.Floor+1)
		}
		if err := set(math.MaxInt64); !errors.Is(err, alloc.ErrExhausted) {
			t.Errorf("SET to the end: %v, want ErrExhausted", err)
		}
		if _, ok := errors.AsType[*alloc.FloorError](set(-1)); !ok {
			t.Error("SET -1 was accepted")
		}
	})
}

// A refill that is under way when SET arrives brings no id below SET's.
func TestSetBesideARefillUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		release := make(chan struct{})
		var held atomic.Bool
		a := started(t, &hooked{mem, func(ctx context.Context, tag string, n int64) (alloc.Range, error) {
			r, err := mem.Lease(ctx, tag, n)
			if held.Load() {
				<-release
			}
			return r, err
		}})
		draw(t, a, "orders", 50)
		held.Store(true)
		draw(t, a, "orders", 50) // starts the refill, which has its range but no reply yet
		synctest.Wait()
		done := make(chan error)
		go func() { done <- a.Set(t.Context(), "orders", 9999) }()
		synctest.Wait()
		held.Store(false)
		close(release)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got := draw(t, a, "orders", 1); got[0] != 10000 {
			t.Errorf("drew %d after SET 9999, want 10000", got[0])
		}
	})
}

func TestDeleteAndCreateAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, alloc.NewMemStore())
		draw(t, a, "orders", 10)
		if err := a.Delete(t.Context(), "orders"); err != nil {
			t.Fatal(err)
		}
		if err := a.Delete(t.Context(), "orders"); !errors.Is(err, alloc.ErrNoTag) {
			t.Errorf("deleting it again: %v, want ErrNoTag", err)
		}
		if _, err := a.Status(t.Context(), "orders"); !errors.Is(err, alloc.ErrNoTag) {
			t.Errorf("status: %v, want ErrNoTag", err)
		}
		time.Sleep(2 * time.Second)
		if got := draw(t, a, "orders", 1); got[0] != 1001 {
			t.Errorf("drew %d, want 1001, above the old mark", got[0])
		}
	})
}

// A tag that another node deleted goes on with what is held here, then answers NOTAG, or begins again above its mark
// where drawing creates.
func TestDeletedElsewhere(t *testing.T) {
	for _, autoCreate := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			mem := alloc.NewMemStore()
			if err := mem.Create(t.Context(), "orders", 10, 0); err != nil {
				t.Fatal(err)
			}
			a := started(t, mem, func(c *alloc.Config) { c.AutoCreate = autoCreate })
			seen := draw(t, a, "orders", 5)
			synctest.Wait()
			if err := mem.Retire(t.Context(), "orders"); err != nil {
				t.Fatal(err)
			}
			for range 100 {
				ids, err := tryDraw(t.Context(), a, "orders", 1)
				if err != nil {
					if autoCreate || !errors.Is(err, alloc.ErrNoTag) {
						t.Fatalf("automatic creation %v: %v", autoCreate, err)
					}
					return
				}
				seen = append(seen, ids...)
			}
			if !autoCreate {
				t.Error("a deleted tag still serves")
			}
			for i := 1; i < len(seen); i++ {
				if seen[i] <= seen[i-1] {
					t.Fatalf("id %d after %d", seen[i], seen[i-1])
				}
			}
		})
	}
}

func TestBadStepIsRefusedAndMended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		if err := mem.Create(t.Context(), "orders", 0, 0); err != nil {
			t.Fatal(err)
		}
		a := started(t, mem)
		if _, err := tryDraw(t.Context(), a, "orders", 1); !errors.Is(err, alloc.ErrBadStep) {
			t.Fatalf("got %v, want ErrBadStep", err)
		}
		if _, err := a.Reserve(t.Context(), "orders", 10); !errors.Is(err, alloc.ErrBadStep) {
			t.Fatalf("got %v, want ErrBadStep", err)
		}
		if err := a.Configure(t.Context(), "orders", alloc.Settings{Step: new(int64(100))}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if got := draw(t, a, "orders", 1); got[0] != 1 {
			t.Errorf("drew %d, want 1", got[0])
		}
		for _, step := range []int64{0, -1, alloc.MaxStep + 1} {
			if err := a.Configure(t.Context(), "orders", alloc.Settings{Step: &step}); !errors.Is(err, alloc.ErrBadStep) {
				t.Errorf("step %d: %v, want ErrBadStep", step, err)
			}
		}
	})
}

func TestEndOfNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		if err := mem.Advance(t.Context(), "orders", math.MaxInt64-1500, 1000); err != nil {
			t.Fatal(err)
		}
		a := started(t, mem)
		last := int64(0)
		for range 3000 {
			ids, err := tryDraw(t.Context(), a, "orders", 1)
			if err != nil {
				if !errors.Is(err, alloc.ErrExhausted) {
					t.Fatalf("got %v, want ErrExhausted", err)
				}
				return
			}
			if ids[0] <= last {
				t.Fatalf("id %d after %d", ids[0], last)
			}
			last = ids[0]
		}
		t.Error("the numbers did not end")
	})
}

// A store that was set back (a restore, a failover that lost writes) stops the tag; it never repeats an id.
func TestStoreWentBackwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		before := mem.Snapshot()
		a := started(t, mem)
		seen := map[int64]bool{}
		for range 500 {
			seen[draw(t, a, "orders", 1)[0]] = true
		}
		synctest.Wait()
		mem.Restore(before)
		var err error
		for range 10_000 {
			var ids []int64
			if ids, err = tryDraw(t.Context(), a, "orders", 1); err != nil {
				break
			}
			if seen[ids[0]] {
				t.Fatalf("id %d was issued twice", ids[0])
			}
			seen[ids[0]] = true
		}
		if !errors.Is(err, alloc.ErrWentBackwards) {
			t.Fatalf("got %v, want ErrWentBackwards", err)
		}
		time.Sleep(time.Hour)
		if _, err := tryDraw(t.Context(), a, "orders", 1); !errors.Is(err, alloc.ErrWentBackwards) {
			t.Errorf("an hour later: %v, want ErrWentBackwards", err)
		}
		if _, err := a.Reserve(t.Context(), "orders", 5000); !errors.Is(err, alloc.ErrWentBackwards) {
			t.Errorf("a reservation: %v, want ErrWentBackwards", err)
		}
		if got := a.Totals().Backwards; got != 1 {
			t.Errorf("counted %d, want 1", got)
		}
	})
}

func TestStepChangesElsewhereAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		a := started(t, mem)
		draw(t, a, "orders", 1)
		if err := mem.Configure(t.Context(), "orders", alloc.Settings{Step: new(int64(77_000))}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(61 * time.Second)
		status, err := a.Status(t.Context(), "orders")
		if err != nil || status.Row.Step != 77_000 || status.NextStep != 77_000 {
			t.Errorf("status %+v, %v: want the new step", status, err)
		}
	})
}

func TestCloseGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		a := started(t, mem)
		draw(t, a, "orders", 150) // a second segment stands ready
		draw(t, a, "messages", 5)
		synctest.Wait()
		// Another node leases after us: its range stays where it is.
		if _, err := mem.Lease(t.Context(), "messages", 100); err != nil {
			t.Fatal(err)
		}
		n, err := a.Close(t.Context())
		if err != nil || n < 850 {
			t.Errorf("Close = %d, %v", n, err)
		}
		for tag, want := range map[string]int64{"orders": 151, "messages": 1101} {
			if row, err := mem.Lookup(t.Context(), tag); err != nil || row.MaxID != want {
				t.Errorf("%s: max_id %d, %v, want %d", tag, row.MaxID, err, want)
			}
		}
		if _, err := tryDraw(t.Context(), a, "orders", 1); !errors.Is(err, alloc.ErrClosed) {
			t.Errorf("drawing after Close: %v, want ErrClosed", err)
		}
		if _, got := a.Take([]byte("orders"), 1); got != 0 {
			t.Error("Take after Close gave an id")
		}
		if _, err := a.Reserve(t.Context(), "orders", 1); !errors.Is(err, alloc.ErrClosed) {
			t.Errorf("Reserve after Close: %v, want ErrClosed", err)
		}
	})
}

// A refill whose reply arrives after Close began is given back too.
func TestCloseWaitsForARefillUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		var slow atomic.Bool
		a := started(t, &hooked{mem, func(ctx context.Context, tag string, n int64) (alloc.Range, error) {
			r, err := mem.Lease(ctx, tag, n)
			if slow.Load() {
				time.Sleep(500 * time.Millisecond)
			}
			return r, err
		}})
		draw(t, a, "orders", 99)
		slow.Store(true)
		draw(t, a, "orders", 1)
		if _, err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if row, err := mem.Lookup(t.Context(), "orders"); err != nil || row.MaxID != 101 {
			t.Errorf("max_id %d, %v, want 101", row.MaxID, err)
		}
	})
}

// Close ends in time even when the store hangs.
func TestCloseHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := alloc.NewMemStore()
		var hang atomic.Bool
		a := started(t, &hooked{mem, func(ctx context.Context, tag string, n int64) (alloc.Range, error) {
			if hang.Load() {
				<-ctx.Done()
				return alloc.Range{}, ctx.Err()
			}
			return mem.Lease(ctx, tag, n)
		}})
		draw(t, a, "orders", 99)
		hang.Store(true)
		draw(t, a, "orders", 1)
		synctest.Wait()
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := a.Close(ctx); err == nil {
			t.Error("Close reports success without having given back")
		}
		if got := time.Since(begun); got > 400*time.Millisecond {
			t.Errorf("Close took %v, want 300ms", got)
		}
	})
}

func TestBatchBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, alloc.NewMemStore(), func(c *alloc.Config) { c.MaxBatch = 10_000 })
		for _, n := range []int64{-1, 0, 10_001, math.MaxInt64} {
			if _, err := tryDraw(t.Context(), a, "orders", n); !errors.Is(err, alloc.ErrBatch) {
				t.Errorf("Draw(%d): %v, want ErrBatch", n, err)
			}
			if _, err := a.Reserve(t.Context(), "orders", n); !errors.Is(err, alloc.ErrBatch) {
				t.Errorf("Reserve(%d): %v, want ErrBatch", n, err)
			}
		}
		if got := draw(t, a, "orders", 10_000); !slices.Equal(got, upTo(1, 10_000)) {
			t.Error("the largest batch of a new tag is not one lease")
		}
	})
}

// A Close that runs out of time leaves ids in the segments; draws must be refused all the same.
func TestDrawAfterCloseInAHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, alloc.NewMemStore())
		draw(t, a, "orders", 1)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		a.Close(ended)
		if _, err := tryDraw(t.Context(), a, "orders", 1); !errors.Is(err, alloc.ErrClosed) {
			t.Errorf("Draw: %v, want ErrClosed", err)
		}
		if _, err := a.Reserve(t.Context(), "orders", 5); !errors.Is(err, alloc.ErrClosed) {
			t.Errorf("Reserve: %v, want ErrClosed", err)
		}
	})
}
