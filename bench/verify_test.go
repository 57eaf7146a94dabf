package bench

import (
	"testing"
)

// keep feeds ids of one key to a new connection's ledger.
func keep(v *Verifier, key string, ranges ...[2]int64) {
	space := v.space(key)
	l := v.ledger()
	for _, r := range ranges {
		l.add(space, r[0], r[1])
	}
}

func TestVerifier(t *testing.T) {
	for _, tt := range []struct {
		name string
		fill func(v *Verifier)
		want Verdict
	}{
		{"nothing", func(*Verifier) {}, Verdict{}},
		{"two connections take turns", func(v *Verifier) {
			keep(v, "segment:a", [2]int64{1, 1}, [2]int64{3, 3}, [2]int64{5, 5})
			keep(v, "segment:a", [2]int64{2, 2}, [2]int64{4, 4}, [2]int64{6, 6})
		}, Verdict{IDs: 6}},
		{"tags are spaces of their own", func(v *Verifier) {
			keep(v, "segment:a", [2]int64{1, 10})
			keep(v, "segment:b", [2]int64{1, 10})
		}, Verdict{IDs: 20}},
		{"snowflake labels are not", func(v *Verifier) {
			keep(v, "snowflake:a", [2]int64{7, 7})
			keep(v, "snowflake:b", [2]int64{7, 7})
		}, Verdict{IDs: 2, Duplicates: 1, Example: "7 of snowflake"}},
		{"the same id again on a connection", func(v *Verifier) {
			keep(v, "segment:a", [2]int64{1, 1}, [2]int64{1, 1})
		}, Verdict{IDs: 2, Duplicates: 1, Breaks: 1, Example: "1 of key segment:a"}},
		{"falling", func(v *Verifier) {
			keep(v, "segment:a", [2]int64{9, 9}, [2]int64{5, 5}, [2]int64{6, 6}, [2]int64{4, 4})
		}, Verdict{IDs: 4, Breaks: 2}},
		{"overlap", func(v *Verifier) {
			keep(v, "segment:a", [2]int64{1, 100})
			keep(v, "segment:a", [2]int64{91, 110})
		}, Verdict{IDs: 120, Duplicates: 10, Example: "91 of key segment:a"}},
		{"one within another, and a third beyond it", func(v *Verifier) {
			keep(v, "segment:a", [2]int64{1, 100})
			keep(v, "segment:a", [2]int64{10, 19}, [2]int64{50, 59}, [2]int64{100, 101})
		}, Verdict{IDs: 122, Duplicates: 21, Example: "10 of key segment:a"}},
		{"three times the same", func(v *Verifier) {
			for range 3 {
				keep(v, "segment:a", [2]int64{5, 5})
			}
		}, Verdict{IDs: 3, Duplicates: 2, Example: "5 of key segment:a"}},
	} {
		v := new(Verifier)
		tt.fill(v)
		for range 2 { // asking does not change the answer
			if got := v.Verdict(); got != tt.want {
				t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
			}
		}
	}
}

func TestLedgerKeepsRuns(t *testing.T) {
	v := new(Verifier)
	space := v.space("segment:a")
	l := v.ledger()
	for id := int64(1); id <= 1000; id++ {
		l.add(space, id, id)
	}
	l.add(space, 2000, 2999)
	l.add(space, 3000, 3999)
	if got := len(l.runs[space]); got != 2 {
		t.Errorf("%d runs, want 2", got)
	}
	if verdict := v.Verdict(); verdict.IDs != 3000 || !verdict.OK() {
		t.Errorf("%+v", verdict)
	}
}
