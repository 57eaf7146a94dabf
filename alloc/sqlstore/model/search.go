// Package model checks the lease protocols exhaustively: of segments, worker windows and strict tags, as package sqlstore's
// statements and its callers carry them out. A model is a state and the steps that lead from one state to others, small
// enough that every state it can reach is looked at. `make model` goes deep, and writes docs/model.md.
package model

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
)

// A system is something that goes from state to state.
type system[S comparable] struct {
	start S
	// next calls emit with every state that one step leads to.
	next func(from S, emit func(step, S))
	// broken names the invariant that the state breaks; "" is none.
	broken func(S) string
}

// A step is what leads from one state to another: what happens, to which node, in the words of the model.
type step struct {
	what    string
	node    int  // counted from 0; -1: none
	a, b, c int8 // what the words ask for, as %d
}

func (s step) String() string {
	text := s.what
	for _, n := range []int8{s.a, s.b, s.c} {
		text = strings.Replace(text, "%d", strconv.Itoa(int(n)), 1)
	}
	switch {
	case s.node < 0:
		return text
	case strings.HasPrefix(text, "'s "):
		return string(rune('A'+s.node)) + text
	}
	return string(rune('A'+s.node)) + " " + text
}

// A found is what a search has come to.
type found struct {
	states  int    // different ones that were looked at
	depth   int    // steps from the start to the farthest of them
	all     bool   // there are no others
	broken  string // the first invariant found broken; "" is none
	witness []string
}

// search goes through all states, those few steps away first, so that a witness is as short as any. It stops at the first
// broken invariant, and after so many states. States are told apart by 64 bits of hash: of 10 million states two are taken for
// one with a probability of 3 in a million.
func search[S comparable](sys system[S], limit int) found {
	seed := maphash.MakeSeed()
	id := func(s S) uint64 { return maphash.Comparable(seed, s) }
	parents := map[uint64]uint64{id(sys.start): 0}
	f := found{states: 1}
	for level := []S{sys.start}; len(level) > 0; f.depth++ {
		var next []S
		for _, s := range level {
			from := id(s)
			for _, to := range successors(sys, s) {
				key := id(to)
				if _, known := parents[key]; known {
					continue
				}
				parents[key] = from
				f.states++
				if f.broken = sys.broken(to); f.broken != "" {
					f.depth++
					f.witness = retrace(sys, parents, key, id)
					return f
				}
				next = append(next, to)
			}
			if f.states > limit {
				return f
			}
		}
		level = next
	}
	f.depth--
	f.all = true
	return f
}

func successors[S comparable](sys system[S], s S) (all []S) {
	sys.next(s, func(_ step, to S) { all = append(all, to) })
	return all
}

// retrace names the steps that lead to the state with this hash. Only hashes were kept, so they are taken anew.
func retrace[S comparable](sys system[S], parents map[uint64]uint64, last uint64, id func(S) uint64) (steps []string) {
	var path []uint64
	for at := last; at != id(sys.start); at = parents[at] {
		path = append(path, at)
	}
	slices.Reverse(path)
	at := sys.start
	for _, want := range path {
		var to S
		var taken step
		sys.next(at, func(by step, s S) {
			if id(s) == want {
				to, taken = s, by
			}
		})
		steps, at = append(steps, taken.String()), to
	}
	return steps
}
