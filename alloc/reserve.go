package alloc

import "context"

// reserveWaiting draws n consecutive ids: from what is at hand, else from a range leased for them.
func (t *tag) reserveWaiting(ctx context.Context, n int64) (first int64, err error) {
	for failures := 1; ; failures++ {
		if first, ok := t.reserve(n); ok {
			return first, nil
		}
		if first, ok := t.tryReserve(ctx, n); ok {
			return first, nil
		}
		if err := t.refuses(ctx); err != nil {
			return 0, err
		}
		sleep(ctx, pause(failures))
	}
}

// tryReserve waits for the loader and leases a range for n ids.
func (t *tag) tryReserve(ctx context.Context, n int64) (first int64, ok bool) {
	if !t.acquire(ctx) {
		return 0, false
	}
	defer t.release()
	// The refill that held the loader may have brought enough.
	if first, ok := t.reserve(n); ok {
		return first, true
	}
	if t.refuses(ctx) != nil || t.checkStep() != nil {
		return 0, false
	}
	return t.leaseFor(n)
}

// refuses is refusal for callers that do not hold t.mu.
func (t *tag) refuses(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refusal(ctx)
}

// leaseFor leases n ids and a step more, so that the draws that follow need not wait. All that was held before lies
// below and is dropped. The step rule does not notice. The loader is held.
func (t *tag) leaseFor(n int64) (first int64, ok bool) {
	t.mu.Lock()
	t.waits++
	step := max(t.step, t.row.Step)
	t.mu.Unlock()
	r, err := t.a.lease(t.name, n+step)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		err = t.grant(r)
	}
	if err != nil {
		t.failed(err)
		return 0, false
	}
	t.segs.drop()
	t.segs.push(Range{First: r.First + n, End: r.End})
	if t.closed { // the call came too late: Close gives the whole range back
		t.segs.cur.First = r.First
		return 0, false
	}
	t.last = r.First + n - 1
	t.issued += n
	t.wake()
	return r.First, true
}
