package alloc

import (
	"time"
)

// mayDraw reports whether ids may be drawn now. It is asked after the request has been read: who holds a strict tag at that
// moment is the only one to draw from it, so that no higher id can have been seen by whoever sent the request. t.mu is held.
func (t *tag) mayDraw() bool {
	if t.closed || !t.strict {
		return !t.closed
	}
	now := time.Now()
	if !t.holds(now) {
		return false
	}
	t.held.used = now
	return true
}

// holds reports whether this node holds the strict tag. When that has ended, what was leased meanwhile may lie below what
// others have drawn, and is dropped. t.mu is held.
func (t *tag) holds(now time.Time) bool {
	if t.held.lasts(now) {
		return true
	}
	if !t.held.until.IsZero() {
		t.held = hold{}
		t.segs.drop()
	}
	return false
}

func (t *tag) isHeld() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.strict && t.holds(time.Now())
}

// ensureHold has this node hold the tag if it must. The loader is held.
func (t *tag) ensureHold() error {
	t.mu.Lock()
	missing := t.strict && !t.holds(time.Now())
	t.mu.Unlock()
	if !missing {
		return nil
	}
	return t.a.holds.take(t)
}

// took begins a hold that was written after sent, over the row. The loader is held.
func (t *tag) took(row StrictTag, sent time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.strict || t.change != row.Change || t.term != row.Term {
		return errContested
	}
	t.segs.drop() // leased before anybody else may have held the tag
	t.held = hold{used: time.Now()}
	t.held.extend(sent, row.Beat+1)
	if !t.holds(time.Now()) {
		return errLapsed
	}
	return nil
}

// renewed makes the hold last longer if the row, read after a renewal that was sent at the given time, shows it. A hold that
// has ended meanwhile stays ended: others may have drawn since.
func (t *tag) renewed(row StrictTag, self int64, sent time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.strict || !t.holds(time.Now()):
	case row.Holder != self:
		t.held = hold{}
		t.segs.drop()
	case row.Beat > t.held.beat:
		t.held.extend(sent, row.Beat)
	}
}

// heed takes in a reading of the tag's row. From the change on that makes it strict, only who holds it draws; what was leased
// before is dropped. t.mu is held.
func (t *tag) heed(row StrictTag) {
	if row.Term < t.term || row.Term == t.term && row.Change <= t.change { // an older reading
		return
	}
	t.term = row.Term
	if row.Change == t.change {
		return
	}
	t.change, t.strict = row.Change, row.Strict
	t.held = hold{}
	t.segs.drop()
	t.forgive()
	t.wake()
}

// idle reports whether the strict tag is not asked for.
func (t *tag) idle(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting == 0 && now.Sub(t.held.used) > strictIdle
}

// stepDown ends this node's hold of the tag and returns the ids that nobody draws any more. t.mu is held.
func (t *tag) stepDown() Range {
	rest := t.segs.tail()
	t.segs.drop()
	t.held = hold{}
	if rest.Len() > 0 && rest.End == t.high { // the store may grant them again
		t.high = rest.First
	}
	return rest
}
