package alloctest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"redleaf/alloc"
)

// FreshStricts makes an empty store, and returns a function that opens independent handles on it.
type FreshStricts func(t *testing.T) (open func() alloc.Stricts)

// RunStricts checks that an implementation of alloc.Stricts does what the interface promises.
func RunStricts(t *testing.T, fresh FreshStricts) {
	tests := []struct {
		name string
		test func(t *testing.T, open func() alloc.Stricts)
	}{
		{"make strict", testMakeStrict},
		{"hold", testHold},
		{"hold by one of many", testHoldRace},
		{"renew", testRenewHolds},
		{"changes are counted in order", testChanges},
		{"confirm", testConfirm},
		{"odd strict tags", testOddStricts},
		{"bound on strict tags", testMaxStrict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, fresh(t)) })
	}
}

func makeStrict(t *testing.T, s alloc.Stricts, tag string, strict bool) int64 {
	t.Helper()
	change, err := s.MakeStrict(testContext(t), tag, strict)
	must(t, err)
	return change
}

func strictTag(t *testing.T, s alloc.Stricts, tag string) alloc.StrictTag {
	t.Helper()
	row, err := s.StrictTag(testContext(t), tag)
	must(t, err)
	return row
}

func testMakeStrict(t *testing.T, open func() alloc.Stricts) {
	a, b := open(), open()
	if _, err := a.StrictTag(testContext(t), "x"); !errors.Is(err, alloc.ErrNoTag) {
		t.Fatalf("before it was strict: %v", err)
	}
	first := makeStrict(t, a, "x", true)
	row := strictTag(t, b, "x")
	if !row.Strict || row.Change != first || row.Tag != "x" || row.Holder != 0 || first < 1 {
		t.Fatalf("made strict by change %d: %+v", first, row)
	}
	if again := makeStrict(t, b, "x", true); again != first || strictTag(t, a, "x") != row {
		t.Fatalf("made strict again: change %d, %+v", again, strictTag(t, a, "x"))
	}
	if ok, err := b.Hold(testContext(t), row, 7, "here:1"); err != nil || !ok {
		t.Fatal(ok, err)
	}
	off := makeStrict(t, a, "x", false)
	if now := strictTag(t, b, "x"); now.Strict || off <= first || now.Change != off || now.Holder != 0 || now.Addr != "" || now.Beat <= row.Beat+1 {
		t.Fatalf("no longer strict by change %d: %+v", off, now)
	}
	all, err := a.StrictTags(testContext(t))
	if must(t, err); len(all) != 1 || all[0] != strictTag(t, b, "x") {
		t.Fatalf("all: %+v", all)
	}
}

func testHold(t *testing.T, open func() alloc.Stricts) {
	a, b := open(), open()
	ctx := testContext(t)
	makeStrict(t, a, "x", true)
	free := strictTag(t, a, "x")
	if ok, err := a.Hold(ctx, free, 7, "here:1"); err != nil || !ok {
		t.Fatal(ok, err)
	}
	held := strictTag(t, b, "x")
	if held.Holder != 7 || held.Addr != "here:1" || held.Beat <= free.Beat || !held.Strict || held.Change != free.Change {
		t.Fatalf("held: %+v, before %+v", held, free)
	}
	for _, stale := range []alloc.StrictTag{free, {Tag: "x", Beat: held.Beat + 1}, {Tag: "y"}} {
		if ok, err := b.Hold(ctx, stale, 8, "there:1"); err != nil || ok {
			t.Fatalf("held by a stale sight %+v: %v, %v", stale, ok, err)
		}
	}
	if ok, err := b.Hold(ctx, held, 0, ""); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if row := strictTag(t, a, "x"); row.Holder != 0 || row.Beat <= held.Beat {
		t.Fatalf("released: %+v", row)
	}
}

func testHoldRace(t *testing.T, open func() alloc.Stricts) {
	handles := []alloc.Stricts{open(), open(), open()}
	makeStrict(t, handles[0], "x", true)
	for range 10 {
		seen := strictTag(t, handles[0], "x")
		won := make(chan int64, 9)
		var wg sync.WaitGroup
		for i := range int64(9) {
			wg.Go(func() {
				ok, err := handles[i%3].Hold(testContext(t), seen, i+1, "x:1")
				if err != nil {
					t.Error(err)
				} else if ok {
					won <- i + 1
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Fatalf("%d took hold of one tag", len(won))
		}
		if winner := <-won; strictTag(t, handles[1], "x").Holder != winner {
			t.Fatalf("held by %d, the row says %+v", winner, strictTag(t, handles[1], "x"))
		}
	}
}

func testRenewHolds(t *testing.T, open func() alloc.Stricts) {
	s := open()
	ctx := testContext(t)
	before := map[string]alloc.StrictTag{}
	for tag, holder := range map[string]int64{"x": 7, "y": 7, "z": 8, "free": 0} {
		makeStrict(t, s, tag, true)
		if holder != 0 {
			if ok, err := s.Hold(ctx, strictTag(t, s, tag), holder, "here:1"); err != nil || !ok {
				t.Fatal(ok, err)
			}
		}
		before[tag] = strictTag(t, s, tag)
	}
	must(t, open().RenewHolds(ctx, 7))
	for tag, old := range before {
		now := strictTag(t, s, tag)
		if mine := old.Holder == 7; mine != (now.Beat > old.Beat) || now.Holder != old.Holder {
			t.Errorf("%s: %+v, before %+v", tag, now, old)
		}
	}
}

// Who sees a change sees all that have a lower number.
func testChanges(t *testing.T, open func() alloc.Stricts) {
	var wg sync.WaitGroup
	for i := range 4 {
		s := open()
		wg.Go(func() {
			for n := range 6 {
				if _, err := s.MakeStrict(testContext(t), fmt.Sprint("t", i), n%2 == 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	reader := open()
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	known := map[int64]bool{}
	latest := int64(0)
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		rows, err := reader.StrictTags(testContext(t))
		must(t, err)
		top := latest
		for _, r := range rows {
			if !known[r.Change] && r.Change <= latest {
				t.Fatalf("change %d was seen after %d", r.Change, latest)
			}
			known[r.Change] = true
			top = max(top, r.Change)
		}
		latest = top
	}
	if latest != 24 {
		t.Errorf("24 changes were counted as %d", latest)
	}
}

func testConfirm(t *testing.T, open func() alloc.Stricts) {
	a, b := open(), open()
	ctx := testContext(t)
	must(t, a.Confirm(ctx, "a", "here:1", 0))
	must(t, b.Confirm(ctx, "b", "there:1", 0))
	change := makeStrict(t, a, "x", true)
	unconfirmed := func() (ids []string) {
		nodes, err := a.Unconfirmed(ctx, change)
		must(t, err)
		for _, n := range nodes {
			ids = append(ids, n.ID+"@"+n.Addr)
		}
		return ids
	}
	if got := unconfirmed(); !slices.Equal(got, []string{"a@here:1", "b@there:1"}) {
		t.Fatalf("before anybody has confirmed: %v", got)
	}
	must(t, a.Confirm(ctx, "a", "here:1", change))
	if got := unconfirmed(); !slices.Equal(got, []string{"b@there:1"}) {
		t.Fatalf("after a has: %v", got)
	}
	must(t, b.Withdraw(ctx, "b"))
	must(t, b.Withdraw(ctx, "b"))
	if got := unconfirmed(); len(got) != 0 {
		t.Fatalf("after b has gone: %v", got)
	}
}

func testOddStricts(t *testing.T, open func() alloc.Stricts) {
	s := open()
	for _, tag := range OddTags() {
		makeStrict(t, s, tag, true)
	}
	for _, tag := range OddTags() {
		if row := strictTag(t, s, tag); row.Tag != tag || !row.Strict || row.Beat != 1 {
			t.Errorf("%q: %+v", tag, row)
		}
	}
}

func testMaxStrict(t *testing.T, open func() alloc.Stricts) {
	s := open()
	for i := range alloc.MaxStrict {
		makeStrict(t, s, fmt.Sprint("t", i), true)
	}
	if _, err := s.MakeStrict(testContext(t), "more", true); !errors.Is(err, alloc.ErrTooManyStrict) || !strings.Contains(err.Error(), "1000") {
		t.Fatalf("one more: %v", err)
	}
	makeStrict(t, s, "t0", false)
	makeStrict(t, s, "more", true)
}
