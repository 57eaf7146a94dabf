// Package alloctest checks that an implementation of alloc.Store does what the interface promises.
package alloctest

import (
	"context"
	"slices"
	"testing"
	"time"

	"redleaf/alloc"
)

// callTimeout is far more than any call needs.
const callTimeout = 20 * time.Second

// Fresh makes an empty store, and returns a function that opens independent handles on it, as several processes have.
type Fresh func(t *testing.T) (open func() alloc.Store)

// Run checks stores that fresh makes, one for each subtest.
func Run(t *testing.T, fresh Fresh) {
	tests := []struct {
		name string
		test func(t *testing.T, open func() alloc.Store)
	}{
		{"ranges are exclusive", testExclusive},
		{"ranges are exclusive across retirement", testExclusiveAcrossRetire},
		{"lease", testLease},
		{"end of the numbers", testExhausted},
		{"odd tags", testOddTags},
		{"look-alike tags", testLookAlikes},
		{"steps", testSteps},
		{"list", testList},
		{"bound on tags", testMaxTags},
		{"create", testCreate},
		{"concurrent create", testConcurrentCreate},
		{"advance", testAdvance},
		{"configure", testConfigure},
		{"retire", testRetire},
		{"give back", testGiveBack},
		{"no such tag", testNoTag},
		{"contexts", testContexts},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, fresh(t)) })
	}
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
	t.Cleanup(cancel)
	return ctx
}

// must fails the test for an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create makes a tag at 1 with step 100.
func create(t *testing.T, s alloc.Store, tag string) {
	t.Helper()
	must(t, s.Create(testContext(t), tag, 100, 0))
}

// wantMaxID checks the tag's row.
func wantMaxID(t *testing.T, s alloc.Store, tag string, want int64) {
	t.Helper()
	row, err := s.Lookup(testContext(t), tag)
	must(t, err)
	if row.Tag != tag || row.MaxID != want {
		t.Fatalf("row is %q at %d, want %q at %d", row.Tag, row.MaxID, tag, want)
	}
}

// wantLease leases n and checks where the range starts.
func wantLease(t *testing.T, s alloc.Store, tag string, n, first int64) {
	t.Helper()
	r, err := s.Lease(testContext(t), tag, n)
	must(t, err)
	if r != (alloc.Range{First: first, End: first + n}) {
		t.Fatalf("leased %v, want %d ids from %d", r, n, first)
	}
}

// wantDisjoint fails if two ranges have an id in common, or a range is empty or starts below 1.
func wantDisjoint(t *testing.T, ranges []alloc.Range) {
	t.Helper()
	slices.SortFunc(ranges, func(a, b alloc.Range) int {
		if a.First < b.First {
			return -1
		}
		return 1
	})
	end := int64(1)
	for _, r := range ranges {
		if r.First < end || r.Len() < 1 {
			t.Fatalf("range %v after one that ends at %d", r, end)
		}
		end = r.End
	}
}
