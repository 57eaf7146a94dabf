package model

import (
	"slices"
	"testing"
)

// Two jugs, of 3 and 5 litres: 4 litres can be measured in six steps, and not fewer.
func TestSearch(t *testing.T) {
	type jugs struct{ three, five int }
	sys := system[jugs]{
		next: func(j jugs, emit func(step, jugs)) {
			toFive, toThree := min(j.three, 5-j.five), min(j.five, 3-j.three)
			for what, to := range map[string]jugs{
				"fill 3": {3, j.five}, "fill 5": {j.three, 5}, "empty 3": {0, j.five}, "empty 5": {j.three, 0},
				"3 into 5": {j.three - toFive, j.five + toFive}, "5 into 3": {j.three + toThree, j.five - toThree},
			} {
				emit(step{what: what, node: -1}, to)
			}
		},
		broken: func(j jugs) string {
			if j.five == 4 {
				return "4 litres"
			}
			return ""
		},
	}
	f := search(sys, 1000)
	if want := []string{"fill 5", "5 into 3", "empty 3", "5 into 3", "fill 5", "5 into 3"}; f.broken != "4 litres" || !slices.Equal(f.witness, want) || f.depth != 6 || f.all {
		t.Errorf("%+v", f)
	}
	sys.broken = func(jugs) string { return "" }
	if f := search(sys, 1000); f.states != 16 || !f.all || f.broken != "" {
		t.Errorf("all states: %+v", f)
	}
	if f := search(sys, 5); f.all || f.states > 10 {
		t.Errorf("at most 5 states: %+v", f)
	}
}
