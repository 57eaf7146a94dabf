package alloctest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"redleaf/alloc"
)

// OddTags returns valid tags that have been trouble somewhere.
func OddTags() []string {
	return []string{
		"a", "A", "Orders", "orders", "ORDERS", "or_ers", "or%ers", "%", "_", "'", "''", "\"", "`", "``", "\\", "\\\\", "\\'", "a\\",
		"';--", "'; DROP TABLE leaf_alloc; -- ", "%s%d%v", "?", "??", ":1", "@x", "$1", "/*", "--", "#", "NULL", "null", "0", "1",
		"a b", "a  b", "é", "e\u0301", "É", "ü", "u\u0308", "ß", "ss", "ı", "i", "I", "İ", "ſ", "s", "\u03a9", "\u2126", "日本", "🍃", "🍃🍂", "👩‍👩‍👧",
		"\u200b", "a\u200b", "\ufeffa", "שלום", "مرحبا", "\ufffd", "\U0010ffff", strings.Repeat("x", alloc.MaxTag),
		strings.Repeat("🍃", alloc.MaxTag), strings.Repeat("'", alloc.MaxTag), "segment:orders", "orders/eu", "{orders}",
	}
}

func testOddTags(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	tags := OddTags()
	for i, tag := range tags {
		first := int64(1000 * (i + 1))
		must(t, s.Create(ctx, tag, int64(i+1), 0))
		must(t, s.Advance(ctx, tag, first, 1))
		wantLease(t, s, tag, 5, first)
	}
	for i, tag := range tags { // each is its own row
		description := "about " + tag
		must(t, s.Configure(ctx, tag, alloc.Settings{Description: &description}))
		wantLease(t, s, tag, 5, int64(1000*(i+1)+5))
		row, err := s.Lookup(ctx, tag)
		must(t, err)
		if row.Step != int64(i+1) || row.Description != description {
			t.Fatalf("tag %q has step %d and description %q", tag, row.Step, row.Description)
		}
	}
	wantListed(t, s, tags, 7)
	for i, tag := range tags {
		must(t, s.Retire(ctx, tag))
		must(t, s.Create(ctx, tag, 1, 0))
		wantMaxID(t, s, tag, int64(1000*(i+1)+10))
	}
}

// A tag that only resembles another is no tag.
func testLookAlikes(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	create(t, s, "Orders")
	create(t, s, "é")
	for _, tag := range []string{"orders", "ORDERS", "Orders ", " Orders", "Order_", "Order%", "%", "Orders\x00", "e", "E", "e\u0301"} {
		_, err := s.Lease(ctx, tag, 1)
		if !errors.Is(err, alloc.ErrNoTag) && !errors.Is(err, alloc.ErrCollation) {
			t.Errorf("lease of %q beside Orders and é: %v", tag, err)
		}
		if done, err := s.GiveBack(ctx, tag, 1, 1); done {
			t.Errorf("gave back to %q: %v", tag, err)
		}
		if err := s.Retire(ctx, tag); !errors.Is(err, alloc.ErrNoTag) && !errors.Is(err, alloc.ErrCollation) {
			t.Errorf("retire of %q beside Orders and é: %v", tag, err)
		}
	}
	wantMaxID(t, s, "Orders", 1)
	wantMaxID(t, s, "é", 1)
}

func testSteps(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	for _, step := range []int64{0, -1, math.MinInt32, 1, alloc.MaxStep} {
		tag := fmt.Sprint("step", step)
		must(t, s.Create(ctx, tag, step, 0))
		row, err := s.Lookup(ctx, tag)
		must(t, err)
		if row.Step != step {
			t.Errorf("step %d came back as %d", step, row.Step)
		}
		wantLease(t, s, tag, 10, 1)
	}
	// More than Leaf's column holds: kept as it is, or refused without a row, but never changed.
	const large = alloc.MaxStep + 1
	err := s.Create(ctx, "large", large, 0)
	row, lookupErr := s.Lookup(ctx, "large")
	if err == nil && row.Step != large || err != nil && !errors.Is(lookupErr, alloc.ErrNoTag) {
		t.Errorf("step %d: %v; the row then has %d, %v", int64(large), err, row.Step, lookupErr)
	}
}

func testList(t *testing.T, open func() alloc.Store) {
	s := open()
	ctx := testContext(t)
	wantListed(t, s, nil, 10)
	var tags []string
	for i := range 57 {
		tag := fmt.Sprintf("tag %c%d", 'A'+rune(i%3)+rune(i%2)*32, i)
		tags = append(tags, tag)
		create(t, s, tag)
	}
	for _, limit := range []int{1, 10, 57, 1000} {
		wantListed(t, s, tags, limit)
	}
	n, err := s.Count(ctx)
	must(t, err)
	if n != int64(len(tags)) {
		t.Errorf("count is %d, want %d", n, len(tags))
	}
	rows, err := s.List(ctx, "", 1000)
	must(t, err)
	for _, row := range rows {
		if row.MaxID != 1 || row.Step != 100 || row.Description != "" || row.Updated.IsZero() {
			t.Fatalf("row %+v", row)
		}
	}
}

// wantListed pages through the tags and meets each once.
func wantListed(t *testing.T, s alloc.Store, want []string, limit int) {
	t.Helper()
	var got []string
	for after := ""; ; {
		rows, err := s.List(testContext(t), after, limit)
		must(t, err)
		if len(rows) > limit {
			t.Fatalf("%d rows, asked for %d", len(rows), limit)
		}
		for _, row := range rows {
			got = append(got, row.Tag)
		}
		if len(rows) == 0 || len(got) > 2*len(want) {
			break
		}
		after = rows[len(rows)-1].Tag
	}
	slices.Sort(got)
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Fatalf("paging by %d met %q, want %q", limit, got, want)
	}
}
