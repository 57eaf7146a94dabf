package alloc

import (
	"context"
	"errors"
	"fmt"
)

// reservation is one call's wish for consecutive ids that were not at hand. The tag's mutex protects it.
type reservation struct {
	n     int64
	first int64
	ok    bool          // first to first+n-1 are the caller's
	gone  bool          // the caller has given up: what is leased goes to others
	done  chan struct{} // closed when the attempt has ended
}

// reserveWaiting draws n consecutive ids: from what is at hand, else from a range leased for them.
func (t *tag) reserveWaiting(ctx context.Context, n int64) (first int64, err error) {
	for failures := 1; ; failures++ {
		if first, ok := t.reserve(n); ok {
			return first, nil
		}
		r, err := t.startReservation(ctx, n)
		if err != nil {
			return 0, err
		}
		if first, ok := t.await(ctx, r); ok {
			return first, nil
		}
		if err := t.refuses(ctx); err != nil {
			return 0, err
		}
		sleep(ctx, pause(failures))
	}
}

// refuses is refusal for callers that do not hold t.mu.
func (t *tag) refuses(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refusal(ctx)
}

// startReservation has a range leased by a goroutine of the allocator: the caller may not wait for as long as a statement
// may take.
func (t *tag) startReservation(ctx context.Context, n int64) (*reservation, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refusal(ctx); err != nil {
		return nil, err
	}
	t.waits++
	r := &reservation{n: n, done: make(chan struct{})}
	t.a.work.Go(func() {
		defer close(r.done)
		t.fulfil(ctx, r)
	})
	return r, nil
}

// await returns what the reservation brought by the time ctx is done.
func (t *tag) await(ctx context.Context, r *reservation) (first int64, ok bool) {
	select {
	case <-r.done:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.gone = true
	return r.first, r.ok
}

// fulfil waits for the loader and leases a range for the reservation.
func (t *tag) fulfil(ctx context.Context, r *reservation) {
	if !t.acquire(ctx) {
		return
	}
	defer t.release()
	if t.fulfilFromHand(r) || t.refuses(ctx) != nil || t.checkStep() != nil {
		return
	}
	if err := t.ensureHold(); err != nil {
		t.mu.Lock()
		t.failed(err)
		t.mu.Unlock()
		return
	}
	t.leaseFor(r)
}

// fulfilFromHand serves the reservation if the refill that held the loader has brought enough.
func (t *tag) fulfilFromHand(r *reservation) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.gone || !t.mayDraw() {
		return r.gone
	}
	r.first, r.ok = t.segs.reserve(r.n)
	if r.ok {
		t.drew(r.first, r.n)
	}
	return r.ok
}

// leaseFor leases the reservation's ids and a step more, so that the draws that follow need not wait. All that was held
// before lies below and is dropped. The step rule does not notice. The loader is held.
func (t *tag) leaseFor(r *reservation) {
	t.mu.Lock()
	step := max(t.step, t.row.Step)
	t.mu.Unlock()
	leased, err := t.leaseAbove(r.n + step)
	if errors.Is(err, ErrExhausted) { // the last ids of the tag
		leased, err = t.leaseAbove(r.n)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		leased, err = t.grant(leased)
	}
	if err != nil {
		t.failed(fmt.Errorf("reserving: %w", err))
		return
	}
	if leased.Len() >= r.n && !t.closed && !r.gone { // else the whole range is there for others, or for Close to give back
		r.first, r.ok = leased.First, true
		leased.First += r.n
		t.drew(r.first, r.n)
	}
	t.segs.drop()
	t.segs.push(leased)
	t.wake()
}

// drew counts n ids that were drawn, from first on. t.mu is held.
func (t *tag) drew(first, n int64) {
	t.last = first + n - 1
	t.issued += n
}
