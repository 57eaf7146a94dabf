package alloctest

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"redleaf/alloc"
)

const (
	handles = 4
	callers = 64
	leases  = 12 // of each caller
)

// collector gathers ranges from many goroutines.
type collector struct {
	mu     sync.Mutex // protects ranges
	ranges []alloc.Range
}

func (c *collector) add(r alloc.Range) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ranges = append(c.ranges, r)
}

func testExclusive(t *testing.T, open func() alloc.Store) {
	stores := openAll(open)
	create(t, stores[0], "orders")
	ctx := testContext(t)
	var got collector
	var calling sync.WaitGroup
	for i := range callers {
		calling.Go(func() {
			for j := range leases {
				r, err := stores[i%handles].Lease(ctx, "orders", int64(1+(i*leases+j)%7))
				if err != nil {
					t.Error(err)
					return
				}
				got.add(r)
			}
		})
	}
	calling.Wait()
	if len(got.ranges) != callers*leases {
		t.Fatalf("%d ranges, want %d", len(got.ranges), callers*leases)
	}
	wantDisjoint(t, got.ranges)
	total := int64(1)
	for _, r := range got.ranges {
		total += r.Len()
	}
	wantMaxID(t, stores[0], "orders", total) // no gaps either: nothing failed
}

func openAll(open func() alloc.Store) (stores [handles]alloc.Store) {
	for i := range stores {
		stores[i] = open()
	}
	return stores
}

// Leases go on while the tag is retired and made again, over and over.
func testExclusiveAcrossRetire(t *testing.T, open func() alloc.Store) {
	stores := openAll(open)
	create(t, stores[0], "orders")
	ctx := testContext(t)
	var got collector
	var leasing sync.WaitGroup
	for _, s := range stores {
		leasing.Go(func() {
			for range 50 {
				if err := leaseOrCreate(ctx, s, &got); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		leasing.Wait()
		close(done)
	}()
	t.Logf("retired %d times", retireUntil(t, stores[1], done))
	wantDisjoint(t, got.ranges)
}

func leaseOrCreate(ctx context.Context, s alloc.Store, got *collector) error {
	r, err := s.Lease(ctx, "orders", 3)
	if errors.Is(err, alloc.ErrNoTag) {
		return s.Create(ctx, "orders", 100, 0)
	}
	if err == nil {
		got.add(r)
	}
	return err
}

// retireUntil retires the tag, at least once, until done, and returns how often.
func retireUntil(t *testing.T, s alloc.Store, done <-chan struct{}) (n int) {
	ctx := testContext(t)
	for {
		err := s.Retire(ctx, "orders")
		if err == nil {
			n++
		} else if !errors.Is(err, alloc.ErrNoTag) {
			t.Error(err)
		}
		select {
		case <-done:
			return n
		default:
		}
	}
}

func testLease(t *testing.T, open func() alloc.Store) {
	s := open()
	create(t, s, "orders")
	create(t, s, "users")
	wantLease(t, s, "orders", 1, 1)
	wantLease(t, s, "orders", 1000, 2)
	wantLease(t, open(), "orders", 5, 1002)
	wantLease(t, s, "users", math.MaxInt32+1, 1) // the step plays no part
	wantMaxID(t, s, "orders", 1007)
}

func testExhausted(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	must(t, s.Advance(ctx, "orders", math.MaxInt64-10, 100))
	if _, err := s.Lease(ctx, "orders", 11); !errors.Is(err, alloc.ErrExhausted) {
		t.Fatalf("lease past the end: %v, want ErrExhausted", err)
	}
	wantMaxID(t, s, "orders", math.MaxInt64-10)
	wantLease(t, s, "orders", 10, math.MaxInt64-10)
	for _, n := range []int64{1, math.MaxInt64} {
		if _, err := s.Lease(ctx, "orders", n); !errors.Is(err, alloc.ErrExhausted) {
			t.Fatalf("lease of %d at the end: %v, want ErrExhausted", n, err)
		}
	}
	wantMaxID(t, s, "orders", math.MaxInt64)
	must(t, s.Advance(ctx, "orders", math.MaxInt64, 100))
	must(t, s.Retire(ctx, "orders"))
	must(t, s.Create(ctx, "orders", 100, 0))
	wantMaxID(t, s, "orders", math.MaxInt64)
}

func testGiveBack(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	create(t, s, "orders")
	wantLease(t, s, "orders", 100, 1)
	wantGiveBack(t, s, 101, 41, true)
	wantMaxID(t, s, "orders", 41)
	wantGiveBack(t, s, 101, 41, false) // not twice
	wantLease(t, s, "orders", 10, 41)
	wantLease(t, open(), "orders", 10, 51)
	wantGiveBack(t, s, 51, 45, false) // somebody has leased after it
	wantMaxID(t, s, "orders", 61)
	wantGiveBack(t, s, 61, 61, true) // nothing to give is no failure
	must(t, s.Retire(ctx, "orders"))
	if done, err := s.GiveBack(ctx, "orders", 61, 60); done || err != nil && !errors.Is(err, alloc.ErrNoTag) {
		t.Fatalf("giving back to a tag that is gone: %v, %v", done, err)
	}
}

func wantGiveBack(t *testing.T, s alloc.Store, end, next int64, want bool) {
	t.Helper()
	done, err := s.GiveBack(testContext(t), "orders", end, next)
	must(t, err)
	if done != want {
		t.Fatalf("giving [%d, %d) back: %v, want %v", next, end, done, want)
	}
}
