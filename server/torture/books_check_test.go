package torture

import "testing"

// The books notice every id that comes twice, however the spans lie.
func TestBooks(t *testing.T) {
	for _, tt := range []struct {
		name       string
		in         []spans
		ids        int64
		duplicates int64
	}{
		{"apart", []spans{{{1, 10}}, {{20, 5}}, {{11, 9}}}, 24, 0},
		{"equal", []spans{{{1, 10}}, {{1, 10}}}, 20, 10},
		{"within one batch", []spans{{{1, 10}, {5, 2}}}, 12, 2},
		{"inside", []spans{{{1, 100}}, {{50, 1}}}, 101, 1},
		{"around", []spans{{{50, 1}}, {{1, 100}}}, 101, 1},
		{"at the end", []spans{{{1, 10}}, {{10, 5}}}, 15, 1},
		{"in the past", []spans{{{1, 10}}, {{100, 10}}, {{200, 10}}, {{5, 1}, {105, 1}, {150, 1}}}, 33, 2},
	} {
		b := &books{kinds: map[string][]span{}}
		for _, s := range tt.in {
			b.enter("k", s)
		}
		if ids, dups := b.counts(); ids != tt.ids || dups != tt.duplicates {
			t.Errorf("%s: %d ids, %d duplicates; want %d, %d", tt.name, ids, dups, tt.ids, tt.duplicates)
		}
	}
}
