package alloc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Pauses between failed store calls of one tag: doubled each time, jittered, and short enough that a caller's wait of
// one second sees the store come back.
const (
	minPause = 20 * time.Millisecond
	maxPause = 400 * time.Millisecond
)

// pause returns how long to wait after the given number of failures in a row (1 or more).
func pause(failures int) time.Duration {
	d := min(maxPause, minPause<<min(failures-1, 10))
	return d/2 + rand.N(d/2)
}

// startLoad starts the refill goroutine unless it runs, or an earlier failure says not yet. t.mu is held.
func (t *tag) startLoad() {
	if t.loading || t.closed || t.gone || t.standing() != nil {
		return
	}
	if t.waiting == 0 && t.failing > 0 && time.Now().Before(t.retryAt) {
		return
	}
	t.loading = true
	t.a.work.Go(t.load)
}

// load refills until the tag has what it needs. After a failure it tries again as long as callers wait; without any it
// leaves the next try to a later draw, so that idle tags do not press a store that is in trouble.
func (t *tag) load() {
	for {
		err := t.refill()
		pause, more := t.again(err)
		if !more {
			return
		}
		sleep(t.a.quit, pause)
	}
}

// again decides whether, and after which pause, the refill goroutine goes on; if not, it is marked as ended under the
// same lock.
func (t *tag) again(err error) (d time.Duration, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.failing = 0
	} else {
		t.failing++
		d = pause(t.failing)
		t.retryAt = time.Now().Add(d)
	}
	ended := t.closed || t.gone || t.standing() != nil
	if !ended && t.segs.low() && (err == nil || t.waiting > 0) {
		return d, true
	}
	t.loading = false
	return 0, false
}

// refill leases one segment by the step rule, if one is due.
func (t *tag) refill() error {
	if !t.acquire(t.a.life) {
		return t.a.life.Err()
	}
	defer t.release()
	if err := t.holdWanted(); err != nil {
		return err
	}
	step, n, err := t.plan()
	if err != nil || n == 0 {
		return err
	}
	begun := time.Now()
	r, err := t.leaseAbove(n)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		r, err = t.grant(r)
	}
	if err != nil {
		t.failed(err)
		return err
	}
	t.refilled(r, step, begun)
	return nil
}

// holdWanted has this node hold a strict tag if somebody waits for its ids: a refill ahead of time must not take back what
// was just left to another node.
func (t *tag) holdWanted() error {
	t.mu.Lock()
	unwanted := t.strict && !t.holds(time.Now()) && t.waiting == 0
	t.mu.Unlock()
	if unwanted {
		return errLapsed
	}
	err := t.ensureHold()
	if err != nil {
		t.mu.Lock()
		t.failed(err)
		t.mu.Unlock()
	}
	return err
}

// leaseAbove leases n ids. After a SET the row is first moved to where SET left it: another node that gave its ids back
// may have lowered it since. What is granted below even so, grant cuts off. The loader is held.
func (t *tag) leaseAbove(n int64) (Range, error) {
	t.mu.Lock()
	floor, step := t.floor, t.row.Step
	set, troubled := floor > t.high, t.lastErr != nil
	t.mu.Unlock()
	if troubled {
		select {
		case t.a.trouble <- struct{}{}:
			defer func() { <-t.a.trouble }()
		case <-t.a.life.Done():
			return Range{}, t.a.life.Err()
		}
	}
	if set {
		ctx, cancel := t.a.statement()
		defer cancel()
		err := t.a.store.Advance(ctx, t.name, floor, step)
		if _, above := errors.AsType[*FloorError](err); err != nil && !above {
			return Range{}, fmt.Errorf("moving to %d: %w", floor, err)
		}
	}
	return t.a.lease(t.name, n)
}

// plan says how many ids to lease now, and how many of them the step rule asked for; 0 when none are due.
func (t *tag) plan() (step, n int64, err error) {
	if err := t.checkStep(); err != nil {
		return 0, 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || !t.segs.low() {
		return 0, 0, nil
	}
	step = t.nextStep(time.Now())
	return step, max(step, min(t.wanted, t.a.cfg.MaxBatch)), nil
}

// nextStep applies the step rule. t.mu is held.
func (t *tag) nextStep(now time.Time) int64 {
	return t.a.cfg.stepRule().next(t.step, t.row.Step, now.Sub(t.filledAt), t.slow)
}

// refilled takes in a segment leased by refill. The loader and t.mu are held.
func (t *tag) refilled(r Range, step int64, begun time.Time) {
	t.slow = t.waited && t.step != 0 // the first segment is always waited for: that says nothing about the step
	t.waited = false
	t.step = step
	now := time.Now()
	t.pace.refill(t.issued, now, now.Sub(begun))
	t.filledAt = now
	t.refills++
	t.segs.expect(t.pace.ahead())
	t.segs.push(r)
	t.wake()
}

// failed notes why a statement failed, and decides where trying again soon would change nothing. t.mu is held.
func (t *tag) failed(err error) {
	t.failures++
	switch {
	case errors.Is(err, ErrWentBackwards) && t.verdict != nil: // grant has decided
	case errors.Is(err, ErrWentBackwards): // a Guard has the nodes agree; till then others may be granted what is held
		t.backwards++
		t.segs.drop()
		t.lastErr = err
	case errors.Is(err, ErrNoTag):
		t.vanish()
	case errors.Is(err, ErrUnavailable), errors.Is(err, errContested), errors.Is(err, errLapsed): // another node holds the strict tag
		t.lastErr = err
	case errors.Is(err, ErrExhausted), errors.Is(err, ErrBadStep), errors.Is(err, ErrCollation), errors.Is(err, ErrStopped):
		t.decide(fmt.Errorf("tag '%s': %w", t.name, err), time.Now().Add(verdictTime))
	default:
		if t.lastErr == nil {
			t.a.cfg.Logger.Warn("leasing a segment failed", "tag", t.name, "err", err)
		}
		t.lastErr = err
	}
}

// vanish notes that the store has no row for the tag. What was leased before stays dropped: the tag was deleted.
// high is kept, so that a row that comes back lower is noticed. t.mu is held.
func (t *tag) vanish() {
	t.gone = true
	t.segs.drop()
	t.step, t.slow = 0, false
	t.wake()
}

// checkStep refuses a row whose step is below 1, after reading it again: somebody may have mended it.
func (t *tag) checkStep() error {
	t.mu.Lock()
	bad := t.row.Step < 1
	t.mu.Unlock()
	if !bad {
		return nil
	}
	ctx, cancel := t.a.statement()
	defer cancel()
	row, err := t.a.store.Lookup(ctx, t.name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.row = row
		if row.Step >= 1 {
			return nil
		}
		err = fmt.Errorf("%w, but its row has step %d: mend it with HSET segment:%s step 1000", ErrBadStep, row.Step, t.name)
	}
	t.failed(err)
	return err
}

// acquire takes the loader, waiting until ctx is done. release gives it back.
func (t *tag) acquire(ctx context.Context) bool {
	select {
	case t.loader <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (t *tag) release() { <-t.loader }

// sleep waits for d and reports whether it passed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
