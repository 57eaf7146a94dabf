package alloc

import "math"

// maxQueue is how many segments may stand ready behind the current one. Leaf has one; a tag whose segments last hardly
// longer than a refill takes has as many as it needs.
const maxQueue = 8

// segments is what this node owns of one tag and has not issued: the current segment and those queued behind it, each
// above the one before. The zero value is empty. It is not safe for concurrent use.
type segments struct {
	cur      Range
	tenth    int64 // where a tenth of the current segment is used: with nothing queued, Leaf's rule refills here
	refillAt int64 // once cur.First is here or above, a refill is due
	queue    []Range
	ahead    int64 // ids that should be at hand, so that none is missing while a refill takes its time
}

// take removes up to n ids (n >= 1) from the front. They are consecutive; got is 0 when there is none.
func (s *segments) take(n int64) (first, got int64) {
	if s.cur.First == s.cur.End && !s.promote() {
		return 0, 0
	}
	first = s.cur.First
	got = min(n, s.cur.End-first)
	s.cur.First += got
	return first, got
}

// reserve removes n consecutive ids (n >= 1). Ranges that other callers of the store left adjacent count as one; what
// lies in front of the ids found is dropped, so that order holds. ok is false, and nothing changes, when no n fit.
func (s *segments) reserve(n int64) (first int64, ok bool) {
	for i := -1; i < len(s.queue); i++ {
		block, last := s.adjacent(i)
		if block.Len() < n {
			continue
		}
		s.skipTo(block.First+n, last)
		return block.First, true
	}
	return 0, false
}

// adjacent returns the unbroken range that starts with segment i (-1 is the current one) and the last segment in it.
func (s *segments) adjacent(i int) (block Range, last int) {
	block = s.at(i)
	for last = i; last+1 < len(s.queue) && s.at(last+1).First == block.End; last++ {
		block.End = s.at(last + 1).End
	}
	return block, last
}

func (s *segments) at(i int) Range {
	if i < 0 {
		return s.cur
	}
	return s.queue[i]
}

// skipTo drops every id below first, which lies in segment last or before.
func (s *segments) skipTo(first int64, last int) {
	for range last + 1 {
		if s.cur.End > first {
			break
		}
		s.promote()
	}
	s.cur.First = max(s.cur.First, first)
}

// promote makes the first queued segment the current one, dropping what is left of that.
func (s *segments) promote() bool {
	if len(s.queue) == 0 {
		return false
	}
	s.setCurrent(s.queue[0])
	s.queue = append(s.queue[:0], s.queue[1:]...)
	s.plan()
	return true
}

func (s *segments) setCurrent(r Range) {
	s.cur = r
	s.tenth = r.First + (r.Len()+9)/10
	s.plan()
}

// expect says how many ids should be at hand.
func (s *segments) expect(ahead int64) {
	s.ahead = ahead
	s.plan()
}

// plan works out where in the current segment a refill is due: with nothing queued once a tenth of it is used, as in Leaf,
// and in any case while fewer ids are at hand than are expected to go during a refill.
func (s *segments) plan() {
	switch short := s.cur.End + s.queued() - s.ahead; {
	case len(s.queue) == 0:
		s.refillAt = min(s.tenth, short)
	case len(s.queue) < maxQueue && s.ahead > 0:
		s.refillAt = short
	default:
		s.refillAt = math.MaxInt64
	}
}

// push adds a leased range, which must lie above all that is held.
func (s *segments) push(r Range) {
	if s.empty() {
		s.setCurrent(r)
		return
	}
	s.queue = append(s.queue, r)
	s.plan()
}

// drop forgets everything held.
func (s *segments) drop() { *s = segments{ahead: s.ahead} }

func (s *segments) empty() bool { return s.cur.First == s.cur.End && len(s.queue) == 0 }

// low reports whether a refill is due.
func (s *segments) low() bool { return s.cur.First >= s.refillAt }

// queued returns how many ids stand ready behind the current segment.
func (s *segments) queued() (n int64) {
	for _, r := range s.queue {
		n += r.Len()
	}
	return n
}

// tail returns the unbroken range at the very end: what can be given back if nobody leased since.
func (s *segments) tail() Range {
	for i := -1; i < len(s.queue); i++ {
		if block, last := s.adjacent(i); last == len(s.queue)-1 {
			return block
		}
	}
	return Range{}
}
