package snowflake

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var errNoWindow = errors.New("no window is owned yet")

// Draw draws count ids, rising, and passes them to emit in runs of consecutive ids. It waits for the clock until ctx is
// done, and at most Config.Wait without progress. After an error, ids already emitted must not be used: they are lost,
// never issued again. Errors: ErrUnavailable, ErrExhausted, ErrClosed.
func (n *Node) Draw(ctx context.Context, count int64, emit func(first, n int64)) error {
	for count > 0 {
		first, got := n.Take(count)
		if got == 0 {
			var err error
			if first, got, err = n.takeWaiting(ctx, count); err != nil {
				return err
			}
		}
		count -= got
		emit(first, got)
	}
	return nil
}

// takeWaiting is Take that waits until it gets an id.
func (n *Node) takeWaiting(ctx context.Context, most int64) (first, got int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.Wait())
	defer cancel()
	for {
		pause, changed, err := n.pause(ctx)
		if err != nil {
			return 0, 0, err
		}
		await(ctx, pause, changed)
		if first, got = n.Take(most); got > 0 {
			return first, got, nil
		}
	}
}

// await returns when the pause is over, changed is closed, or ctx is done.
func await(ctx context.Context, pause time.Duration, changed <-chan struct{}) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-ctx.Done():
	}
}

// pause returns after how long, or after what, trying again may succeed, or why a call should not wait.
func (n *Node) pause(ctx context.Context) (time.Duration, <-chan struct{}, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now, _ := n.time.now()
	if n.closed {
		return 0, nil, ErrClosed
	}
	if err := n.cfg.Layout.checkTime(now); err != nil {
		return 0, nil, err
	}
	ts, owned := n.gen.next(now)
	if ctx.Err() != nil {
		return 0, nil, n.unavailable(now, ts, owned)
	}
	if !owned {
		return n.Wait(), n.changed, nil
	}
	return max(time.Millisecond, sinceEpoch(ts-runAhead-now)), n.changed, nil
}

// unavailable says why a call waited in vain. n.mu is held.
func (n *Node) unavailable(now, ts int64, owned bool) error {
	cause := n.state.err
	switch {
	case owned && ts > now+runAhead:
		cause = fmt.Errorf("the window begins %v ahead of this machine's clock", sinceEpoch(ts-now))
	case owned:
		cause = errors.New("ids are drawn faster than the layout can count; --workers adds room")
	case cause == nil:
		cause = errNoWindow
	}
	return fmt.Errorf("%w within %v: %w", ErrUnavailable, n.Wait(), cause)
}

// checkTime reports whether the layout can represent the time, in Unix milliseconds.
func (l Layout) checkTime(ms int64) error {
	if l.Epoch < ms && ms <= l.MaxTime() {
		return nil
	}
	return fmt.Errorf("%w: it is %s, and bits %s hold %s to %s", ErrExhausted, utc(ms), l.Bits(), utc(l.Epoch), utc(l.MaxTime()))
}

func utc(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000 UTC") }
