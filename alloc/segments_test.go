package alloc

import (
	"math/rand/v2"
	"testing"
)

// drain takes everything in bites of the given size and returns the ids.
func drain(s *segments, bite int64) (ids []int64) {
	for {
		first, got := s.take(bite)
		if got == 0 {
			return ids
		}
		for i := range got {
			ids = append(ids, first+i)
		}
	}
}

func TestSegmentsTakeInOrder(t *testing.T) {
	for _, bite := range []int64{1, 3, 10, 1000} {
		var s segments
		s.push(Range{1, 11})
		s.push(Range{21, 26})
		got := drain(&s, bite)
		want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 21, 22, 23, 24, 25}
		if len(got) != len(want) {
			t.Fatalf("bite %d: got %v", bite, got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("bite %d: got %v", bite, got)
			}
		}
	}
}

func TestSegmentsRefillIsDueAfterATenth(t *testing.T) {
	tests := []struct{ size, dueAfter int64 }{{1000, 100}, {1001, 101}, {10, 1}, {9, 1}, {1, 1}, {1_000_000, 100_000}}
	for _, tt := range tests {
		var s segments
		s.push(Range{5, 5 + tt.size})
		for used := int64(1); used <= tt.size; used++ {
			s.take(1)
			if want := used >= tt.dueAfter; s.low() != want {
				t.Fatalf("size %d: after %d low is %v", tt.size, used, s.low())
			}
			if used > tt.dueAfter {
				break
			}
		}
		s.push(Range{1 << 40, 1<<40 + 10})
		if s.low() {
			t.Errorf("size %d: low with a segment ready", tt.size)
		}
	}
	if !new(segments).low() {
		t.Error("empty is not low")
	}
}

func TestSegmentsReserve(t *testing.T) {
	tests := []struct {
		name        string
		cur, queued Range
		used, n     int64
		first       int64
		ok          bool
		left        int64 // ids left after
	}{
		{"fits the current", Range{1, 101}, Range{}, 10, 90, 11, true, 0},
		{"does not fit the only one", Range{1, 101}, Range{}, 10, 91, 0, false, 90},
		{"fits the next, which drops the current", Range{1, 101}, Range{501, 601}, 50, 100, 501, true, 0},
		{"crosses into an adjacent next", Range{1, 101}, Range{101, 201}, 50, 120, 51, true, 30},
		{"does not cross a gap", Range{1, 101}, Range{102, 202}, 50, 101, 0, false, 150},
		{"takes all of two adjacent", Range{1, 101}, Range{101, 201}, 0, 200, 1, true, 0},
		{"the current is used up", Range{1, 101}, Range{301, 401}, 100, 5, 301, true, 95},
		{"up to the seam exactly", Range{1, 101}, Range{101, 201}, 50, 50, 51, true, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s segments
			s.push(tt.cur)
			if tt.queued.Len() > 0 {
				s.push(tt.queued)
			}
			if tt.used > 0 {
				s.take(tt.used)
			}
			first, ok := s.reserve(tt.n)
			if first != tt.first || ok != tt.ok {
				t.Errorf("reserve(%d) = %d, %v, want %d, %v", tt.n, first, ok, tt.first, tt.ok)
			}
			if left := s.cur.Len() + s.queued(); left != tt.left {
				t.Errorf("%d ids left, want %d", left, tt.left)
			}
		})
	}
}

func TestSegmentsTail(t *testing.T) {
	tests := []struct {
		name        string
		cur, queued Range
		used        int64
		want        Range
	}{
		{"nothing", Range{}, Range{}, 0, Range{}},
		{"the rest of the only one", Range{1, 101}, Range{}, 10, Range{11, 101}},
		{"used up", Range{1, 101}, Range{}, 100, Range{101, 101}},
		{"adjacent: both", Range{1, 101}, Range{101, 201}, 10, Range{11, 201}},
		{"others leased between: the last", Range{1, 101}, Range{301, 401}, 10, Range{301, 401}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s segments
			if tt.cur.Len() > 0 {
				s.push(tt.cur)
			}
			if tt.queued.Len() > 0 {
				s.push(tt.queued)
			}
			if tt.used > 0 {
				s.take(tt.used)
			}
			if got := s.tail(); got.Len() != tt.want.Len() || got.Len() > 0 && got != tt.want {
				t.Errorf("tail = %v, want %v", got, tt.want)
			}
		})
	}
}

// Random calls, compared with a plain list of ids: what is handed out rises, is never repeated, and is what was pushed.
func TestSegmentsAgainstAList(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s segments
		var model []int64
		next, last := int64(1), int64(0)
		check := func(first, n int64) {
			for i := range n {
				if first+i <= last {
					t.Fatalf("seed %d: id %d after %d", seed, first+i, last)
				}
				last = first + i
				for len(model) > 0 && model[0] < last { // dropped by a reservation
					model = model[1:]
				}
				if len(model) == 0 || model[0] != last {
					t.Fatalf("seed %d: id %d was not held", seed, last)
				}
				model = model[1:]
			}
		}
		for range 60 {
			switch rng.IntN(4) {
			case 0:
				if len(s.queue) < maxQueue {
					next += rng.Int64N(2) * 7
					r := Range{next, next + 1 + rng.Int64N(12)}
					next = r.End
					s.push(r)
					for id := r.First; id < r.End; id++ {
						model = append(model, id)
					}
				}
			case 1:
				n := 1 + rng.Int64N(12)
				if first, ok := s.reserve(n); ok {
					check(first, n)
				}
			default:
				held := len(model)
				first, got := s.take(1 + rng.Int64N(6))
				if got == 0 && held > 0 {
					t.Fatalf("seed %d: nothing taken of %d held", seed, held)
				}
				if got > 0 && first != model[0] {
					t.Fatalf("seed %d: took %d, first held is %d", seed, first, model[0])
				}
				check(first, got)
			}
		}
	}
}
