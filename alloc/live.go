package alloc

import (
	"context"
	"iter"
	"time"
)

// Live is a tag in use on this node, in more detail than Status.
type Live struct {
	Status
	Current  Range         // ids left in the current segment
	Size     int64         // ids that it had
	Queued   Range         // from the first id ready behind it to the last; other nodes' ids may lie between
	Segments int           // how many segments those are in
	Step     int64         // ids that the step rule asked for last; 0 before the first refill
	Took     time.Duration // how long refills take
	Issued   int64         // ids drawn, since the start
	Waiting  int64         // calls that wait now
	Failures int64         // store calls that failed, since the start
	Stopped  bool          // for good: the store went backwards
}

// Live goes through the tags in use on this node, in no order. It asks the store nothing.
func (a *Allocator) Live() iter.Seq[Live] {
	return func(yield func(Live) bool) {
		for _, t := range a.all() {
			if l, ok := t.live(); ok && !yield(l) {
				return
			}
		}
	}
}

// LiveTag returns one tag of Live; ok is false when it is not in use here.
func (a *Allocator) LiveTag(name string) (l Live, ok bool) {
	t := a.inUse(name)
	if t == nil {
		return Live{}, false
	}
	return t.live()
}

func (t *tag) live() (l Live, ok bool) {
	l.Status = t.status()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return Live{}, false
	}
	l.Current, l.Size, l.Segments = t.segs.cur, t.segs.size(), len(t.segs.queue)
	l.Left, l.Next = t.segs.cur.Len(), t.segs.queued()
	if l.Segments > 0 {
		l.Queued = Range{t.segs.queue[0].First, t.segs.queue[l.Segments-1].End}
	}
	l.Step, l.Took = t.step, t.pace.took
	l.Issued, l.Waiting, l.Failures = t.issued, t.waiting, t.failures
	l.Stopped = t.verdict != nil && t.verdictUntil.IsZero()
	return l, true
}

// size returns how many ids the current segment had: nine tenths of them lie behind tenth.
func (s *segments) size() int64 { return max(s.cur.Len(), (s.cur.End-s.tenth)*10/9) }

// Observed returns the store with its leases observed: how long each took, and how it ended. Observe is called by many
// goroutines at a time.
func Observed(store Store, observe func(took time.Duration, err error)) Store {
	return observedStore{store, observe}
}

type observedStore struct {
	Store
	observe func(time.Duration, error)
}

// Lease implements Store.
func (s observedStore) Lease(ctx context.Context, tag string, n int64) (Range, error) {
	begun := time.Now()
	r, err := s.Store.Lease(ctx, tag, n)
	s.observe(time.Since(begun), err)
	return r, err
}
