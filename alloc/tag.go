package alloc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// verdictTime is how long an answer that retrying can't change soon (no row, end of numbers, bad step) is kept before
// the store is asked again.
const verdictTime = time.Second

// heldTime is for how long draws from a strict tag that another node holds are then refused at once: one of them has waited
// in vain for that node to let go.
const heldTime = 500 * time.Millisecond

var errNoAnswer = errors.New("the store has not answered yet")

// tag is one tag in use on this node. All its statements go through one loader, one at a time, so that ranges arrive
// in the order in which the store granted them.
type tag struct {
	name   string
	a      *Allocator
	loader chan struct{} // holds one token; whoever put it there may send a statement for this tag

	mu      sync.Mutex // protects everything below
	segs    segments
	high    int64     // end of the highest range granted to this node: the store may grant nothing below
	floor   int64     // SET promised that nothing below is issued here
	row     Row       // as last read
	gone    bool      // the store has no row; the next draw looks it up again
	closed  bool      // draws have ended for good
	loading bool      // a goroutine is refilling
	failing int       // store calls that failed in a row
	retryAt time.Time // when to try again after the last of them, if nobody waits

	verdict      error // what draws get without asking the store, until verdictUntil (zero: for good)
	verdictUntil time.Time
	lastErr      error // why the last refill failed

	strict bool  // only the node that holds it draws
	change int64 // and that since this change
	term   int64 // of the agreement under which that was read
	held   hold  // this node's right to draw

	changed chan struct{} // closed, and replaced, when waiters should look again
	waiting int64         // calls waiting now
	wanted  int64         // ids they still want

	step     int64     // ids the last refill leased by the step rule; 0 before the first
	filledAt time.Time // when it did
	pace     pace      // how fast ids go and refills come
	waited   bool      // calls have waited since that refill was granted
	slow     bool      // calls had to wait for that refill itself

	last                   int64
	issued, refills, waits int64
	failures, backwards    int64
}

func newTag(a *Allocator, row Row) *tag {
	return &tag{name: row.Tag, a: a, row: row, loader: make(chan struct{}, 1), changed: make(chan struct{})}
}

// take draws up to n ids without waiting, and sees to it that the next segment is on its way.
func (t *tag) take(n int64) (first, got int64) {
	t.mu.Lock()
	if t.mayDraw() {
		first, got = t.segs.take(n)
	}
	if got > 0 {
		t.drew(first, got)
	}
	if t.segs.low() {
		t.startLoad()
	}
	t.mu.Unlock()
	return first, got
}

// reserve draws n consecutive ids if that many are at hand.
func (t *tag) reserve(n int64) (first int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mayDraw() {
		first, ok = t.segs.reserve(n)
	}
	if ok {
		t.drew(first, n)
	}
	if ok && t.segs.low() { // else the reservation leases for the draws that follow as well
		t.startLoad()
	}
	return first, ok
}

// wait returns nil when it is worth trying to take again, or why it is not. want is how many ids the caller needs.
func (t *tag) wait(ctx context.Context, want int64) error {
	changed, err := t.enterWait(ctx, want)
	if changed == nil {
		return err
	}
	select {
	case <-changed:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting--
	t.wanted -= want
	if t.ready() {
		return nil
	}
	return t.refusal(ctx)
}

// enterWait registers a waiter and returns the channel to wait on, or nil when there is nothing to wait for.
func (t *tag) enterWait(ctx context.Context, want int64) (<-chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ready() {
		return nil, nil
	}
	if err := t.refusal(ctx); err != nil {
		return nil, err
	}
	t.waits++
	t.waiting++
	t.wanted += want
	t.waited = true
	t.startLoad()
	return t.changed, nil
}

// ready reports whether a draw would find something. t.mu is held.
func (t *tag) ready() bool { return !t.closed && !t.segs.empty() }

// refusal says why a caller that found too few ids should not wait any longer. t.mu is held.
func (t *tag) refusal(ctx context.Context) error {
	switch {
	case t.closed:
		return ErrClosed
	case t.standing() != nil:
		return t.verdict
	case t.gone:
		return fmt.Errorf("tag '%s': %w", t.name, ErrNoTag)
	case ctx.Err() != nil:
		return t.unavailable()
	}
	return nil
}

// standing returns the verdict on the tag, if one still stands. t.mu is held.
func (t *tag) standing() error {
	if t.verdict != nil && !t.verdictUntil.IsZero() && !time.Now().Before(t.verdictUntil) {
		t.verdict = nil
	}
	return t.verdict
}

// unavailable says that the deadline passed, and the store's last failure. t.mu is held.
func (t *tag) unavailable() error {
	cause := t.lastErr
	if held, ok := errors.AsType[*HeldError](cause); ok {
		if !t.a.cfg.StrictWait {
			t.decide(held, time.Now().Add(heldTime))
		}
		return held
	}
	if cause == nil {
		cause = errNoAnswer
	}
	return &UnavailableError{Tag: t.name, Wait: t.a.Wait(), Cause: cause}
}

// wake lets every waiter look again. t.mu is held.
func (t *tag) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// grant takes in a range that the store leased to this node, and returns what of it may be issued. The caller holds the
// loader and t.mu.
func (t *tag) grant(r Range) (Range, error) {
	if r.First < t.high {
		t.backwards++
		err := fmt.Errorf("tag '%s': %w: it granted ids from %d, but this node was already granted ids up to %d",
			t.name, ErrWentBackwards, r.First, t.high-1)
		t.segs.drop()
		t.decide(err, time.Time{})
		t.a.cfg.Logger.Error("store went backwards; tag stopped", "tag", t.name, "granted", r.First, "known", t.high)
		return Range{}, err
	}
	t.high = r.End
	if t.strict && !t.holds(time.Now()) {
		return Range{}, errLapsed
	}
	if t.lastErr != nil && !errors.Is(t.lastErr, ErrUnavailable) {
		t.a.cfg.Logger.Info("leasing works again", "tag", t.name)
	}
	t.lastErr, t.verdict = nil, nil
	return Range{First: min(max(r.First, t.floor), r.End), End: r.End}, nil
}

// decide makes err the answer of the tag's draws until the given time. t.mu is held.
func (t *tag) decide(err error, until time.Time) {
	t.verdict, t.verdictUntil = err, until
	t.lastErr = err
	t.wake()
}

func (t *tag) isGone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gone
}

func (t *tag) status() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	row := t.row
	row.MaxID = max(row.MaxID, t.high, t.floor)
	return Status{
		Strict: t.strict, Holder: t.holder(),
		Row: row, Last: t.last, Left: t.segs.cur.Len(), Next: t.segs.queued(),
		NextStep: t.nextStep(time.Now()), Refills: t.refills, Waits: t.waits, Err: t.lastErr,
	}
}

// holder returns the address of the node that was last seen to hold the strict tag. t.mu is held.
func (t *tag) holder() string {
	if !t.strict {
		return ""
	}
	if t.held.lasts(time.Now()) {
		return t.a.holds.addr
	}
	row, _ := t.a.holds.row([]byte(t.name))
	return row.Addr
}
