package alloctest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"redleaf/alloc"
)

func testMaxTags(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	for _, tag := range []string{"a", "b", "c"} {
		must(t, s.Create(ctx, tag, 1, 3))
	}
	if err := s.Create(ctx, "d", 1, 3); !errors.Is(err, alloc.ErrTooManyTags) {
		t.Fatalf("fourth tag of three: %v, want ErrTooManyTags", err)
	}
	if _, err := s.Lookup(ctx, "d"); !errors.Is(err, alloc.ErrNoTag) {
		t.Fatalf("fourth tag: %v, want ErrNoTag", err)
	}
	must(t, s.Create(ctx, "a", 1, 3)) // it exists
	must(t, s.Retire(ctx, "a"))
	must(t, s.Create(ctx, "d", 1, 3))
	must(t, s.Create(ctx, "e", 1, 0)) // no bound
}

func testCreate(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	must(t, s.Create(ctx, "orders", 100, 0))
	wantLease(t, s, "orders", 50, 1)
	must(t, s.Create(ctx, "orders", 999, 0)) // changes nothing
	row, err := s.Lookup(ctx, "orders")
	must(t, err)
	if row.Step != 100 || row.MaxID != 51 || row.Description != "" {
		t.Fatalf("row %+v", row)
	}
	if since := time.Since(row.Updated).Abs(); since > time.Hour {
		t.Errorf("updated %v ago", since)
	}
}

// Everybody may create, everybody then leases, and nobody sees an error.
func testConcurrentCreate(t *testing.T, open func() alloc.Store) {
	stores := openAll(open)
	ctx := testContext(t)
	for round := range 5 {
		tag := fmt.Sprint("tag", round)
		var got collector
		var calling sync.WaitGroup
		for i := range 16 {
			calling.Go(func() {
				s := stores[i%handles]
				if err := s.Create(ctx, tag, 10, 0); err != nil {
					t.Error(err)
					return
				}
				r, err := s.Lease(ctx, tag, 2)
				if err != nil {
					t.Error(err)
					return
				}
				got.add(r)
			})
		}
		calling.Wait()
		wantDisjoint(t, got.ranges)
		wantMaxID(t, stores[0], tag, 33)
	}
}

func testAdvance(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	must(t, s.Advance(ctx, "orders", 1000, 50)) // makes it
	row, err := s.Lookup(ctx, "orders")
	must(t, err)
	if row.MaxID != 1000 || row.Step != 50 {
		t.Fatalf("row %+v", row)
	}
	must(t, s.Advance(ctx, "orders", 2000, 999))
	must(t, s.Advance(ctx, "orders", 2000, 999)) // equal
	if row, err = s.Lookup(ctx, "orders"); err != nil || row.MaxID != 2000 || row.Step != 50 {
		t.Fatalf("row %+v, %v", row, err)
	}
	wantFloor(t, s, "orders", 1999, 1999)
	wantFloor(t, s, "orders", 1, 1999)
	wantFloor(t, s, "orders", math.MinInt64, 1999)
	wantMaxID(t, s, "orders", 2000)

	wantFloor(t, s, "fresh", 0, 0)
	if _, err := s.Lookup(ctx, "fresh"); !errors.Is(err, alloc.ErrNoTag) {
		t.Fatalf("a refused value made the tag: %v", err)
	}
	must(t, s.Advance(ctx, "fresh", 1, 10))
	wantMaxID(t, s, "fresh", 1)

	must(t, s.Retire(ctx, "orders"))
	wantFloor(t, s, "orders", 1500, 1999)
	if _, err := s.Lookup(ctx, "orders"); !errors.Is(err, alloc.ErrNoTag) {
		t.Fatalf("a refused value made the tag: %v", err)
	}
	must(t, s.Advance(ctx, "orders", 2000, 60))
	wantLease(t, s, "orders", 10, 2000)
	must(t, s.Advance(ctx, "orders", math.MaxInt64, 1))
	wantMaxID(t, s, "orders", math.MaxInt64)
}

// wantFloor checks that a value is refused with the smallest one that SET accepts.
func wantFloor(t *testing.T, s alloc.Store, tag string, maxID, floor int64) {
	t.Helper()
	err := s.Advance(testContext(t), tag, maxID, 10)
	e, ok := errors.AsType[*alloc.FloorError](err)
	if !ok || e.Floor != floor || e.Tag != tag {
		t.Fatalf("advance to %d: %v, want a floor of %d", maxID, err, floor)
	}
}

func testConfigure(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	create(t, s, "orders")
	check := func(settings alloc.Settings, step int64, description string) {
		t.Helper()
		must(t, s.Configure(ctx, "orders", settings))
		row, err := s.Lookup(ctx, "orders")
		must(t, err)
		if row.Step != step || row.Description != description || row.MaxID != 1 {
			t.Fatalf("row %+v, want step %d and description %q", row, step, description)
		}
	}
	check(alloc.Settings{}, 100, "")
	check(alloc.Settings{Step: new(int64(7))}, 7, "")
	check(alloc.Settings{Step: new(int64(7))}, 7, "") // as it is
	check(alloc.Settings{Description: new("it's 100 % \\ 🍃")}, 7, "it's 100 % \\ 🍃")
	check(alloc.Settings{Step: new(int64(alloc.MaxStep)), Description: new("")}, alloc.MaxStep, "")
}

func testRetire(t *testing.T, open func() alloc.Store) {
	s, other := open(), open()
	ctx := testContext(t)
	create(t, s, "orders")
	wantLease(t, s, "orders", 100, 1)
	must(t, other.Retire(ctx, "orders"))
	if _, err := s.Lease(ctx, "orders", 1); !errors.Is(err, alloc.ErrNoTag) {
		t.Fatalf("lease of a retired tag: %v, want ErrNoTag", err)
	}
	if err := s.Retire(ctx, "orders"); !errors.Is(err, alloc.ErrNoTag) {
		t.Fatalf("second retirement: %v, want ErrNoTag", err)
	}
	must(t, s.Create(ctx, "orders", 5, 0))
	wantLease(t, other, "orders", 10, 101)
	must(t, s.Advance(ctx, "orders", 5000, 5))
	must(t, s.Retire(ctx, "orders"))
	must(t, other.Create(ctx, "orders", 5, 0))
	wantMaxID(t, s, "orders", 5000)
}

func testNoTag(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	_, leaseErr := s.Lease(ctx, "none", 1)
	_, lookupErr := s.Lookup(ctx, "none")
	for call, err := range map[string]error{
		"Lease": leaseErr, "Lookup": lookupErr, "Retire": s.Retire(ctx, "none"),
		"Configure": s.Configure(ctx, "none", alloc.Settings{Step: new(int64(1))}),
	} {
		if !errors.Is(err, alloc.ErrNoTag) {
			t.Errorf("%s: %v, want ErrNoTag", call, err)
		}
	}
	if n, err := s.Count(ctx); n != 0 || err != nil {
		t.Errorf("count is %d, %v", n, err)
	}
}

// A call whose context is over does nothing and is no sentinel, and the store is as good as before.
func testContexts(t *testing.T, open func() alloc.Store) {
	s := open()
	create(t, s, "orders")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancelLate()
	for _, ctx := range []context.Context{cancelled, late} {
		for call, err := range callAll(ctx, s) {
			if !errors.Is(err, ctx.Err()) {
				t.Errorf("%s: %v, want %v", call, err, ctx.Err())
			}
		}
	}
	wantMaxID(t, s, "orders", 1)
	if _, err := s.Lookup(testContext(t), "new"); !errors.Is(err, alloc.ErrNoTag) {
		t.Errorf("look-up: %v, want ErrNoTag", err)
	}
	wantLease(t, s, "orders", 10, 1)
}

// callAll makes every call once and returns their errors.
func callAll(ctx context.Context, s alloc.Store) map[string]error {
	errs := map[string]error{
		"Create": s.Create(ctx, "new", 1, 0), "Advance": s.Advance(ctx, "orders", 100, 1),
		"Configure": s.Configure(ctx, "orders", alloc.Settings{Step: new(int64(1))}), "Retire": s.Retire(ctx, "orders"),
	}
	_, errs["Lease"] = s.Lease(ctx, "orders", 1)
	_, errs["Lookup"] = s.Lookup(ctx, "orders")
	_, errs["List"] = s.List(ctx, "", 10)
	_, errs["Count"] = s.Count(ctx)
	_, errs["GiveBack"] = s.GiveBack(ctx, "orders", 1, 1)
	return errs
}
