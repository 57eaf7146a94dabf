package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A run is ids that one connection got one after the other, each 1 above the last.
type run struct{ first, last int64 }

// A ledger keeps every id of one connection, in 16 bytes a run. It belongs to one goroutine.
type ledger struct {
	runs   [][]run // by space
	breaks int64   // ids that were not above the one before of the same space
}

// add notes the ids first to last of a space, in the order in which they came.
func (l *ledger) add(space int, first, last int64) {
	runs := l.runs[space]
	if n := len(runs); n > 0 {
		switch before := runs[n-1].last; {
		case first == before+1:
			runs[n-1].last = last
			return
		case first <= before:
			l.breaks++
		}
	}
	l.runs[space] = append(runs, run{first, last})
}

// A Verifier keeps every id of all the runs it is given to. Ids must be unique in their space: a segment's tag is one,
// snowflake ids of all labels share one.
type Verifier struct {
	mu      sync.Mutex // protects what follows
	spaces  []string
	ledgers []*ledger
}

// A Verdict is what a Verifier found.
type Verdict struct {
	IDs        int64  `json:"ids"`
	Duplicates int64  `json:"duplicates"`        // ids given out before, counted each time
	Breaks     int64  `json:"order_breaks"`      // ids not above the one before on the same connection
	Example    string `json:"example,omitempty"` // one of the duplicates
}

// OK says whether every id was unique and rising.
func (v Verdict) OK() bool { return v.Duplicates == 0 && v.Breaks == 0 }

// space returns the number of the space that a key draws from.
func (v *Verifier) space(key string) int {
	name := "key " + key
	if strings.HasPrefix(key, "snowflake:") {
		name = "snowflake"
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	i := slices.Index(v.spaces, name)
	if i < 0 {
		i = len(v.spaces)
		v.spaces = append(v.spaces, name)
	}
	return i
}

// ledger returns a ledger for one connection that draws from the spaces known by now.
func (v *Verifier) ledger() *ledger {
	v.mu.Lock()
	defer v.mu.Unlock()
	l := &ledger{runs: make([][]run, len(v.spaces))}
	v.ledgers = append(v.ledgers, l)
	return l
}

// Verdict looks at everything kept so far. The runs must have ended.
func (v *Verifier) Verdict() Verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	var verdict Verdict
	for _, l := range v.ledgers {
		verdict.Breaks += l.breaks
	}
	for i, name := range v.spaces {
		var all []run
		for _, l := range v.ledgers {
			if i < len(l.runs) {
				all = append(all, l.runs[i]...)
			}
		}
		verdict.look(name, all)
	}
	return verdict
}

// look counts the ids of one space that occur in more than one run.
func (v *Verdict) look(space string, all []run) {
	slices.SortFunc(all, func(a, b run) int { return cmp.Compare(a.first, b.first) })
	for i, r := range all {
		v.IDs += r.last - r.first + 1
		if i == 0 {
			continue
		}
		end := &all[i-1].last // the greatest id of the runs before
		if r.first <= *end {
			if v.Example == "" {
				v.Example = fmt.Sprintf("%d of %s", r.first, space)
			}
			v.Duplicates += min(r.last, *end) - r.first + 1
			all[i].last = max(r.last, *end)
		}
	}
}
