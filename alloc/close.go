package alloc

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

const givingBack = 4 // give-backs sent at a time

// Close stops drawing, waits for store calls under way, gives unused ids back as far as ctx allows, and returns how
// many were given back. Ids are given back only where nobody leased after this node.
func (a *Allocator) Close(ctx context.Context) (givenBack int64, err error) {
	tags := a.stop()
	stop := context.AfterFunc(ctx, a.endLife)
	defer stop()
	a.work.Wait()

	var sum atomic.Int64
	var group errgroup.Group
	group.SetLimit(givingBack)
	for _, t := range tags {
		group.Go(func() error {
			n, err := t.giveBack(ctx)
			sum.Add(n)
			return err
		})
	}
	err = group.Wait()
	if a.holds != nil {
		err = errors.Join(err, a.holds.withdraw())
	}
	a.endLife()
	return sum.Load(), err
}

// stop ends all drawing, for good, and returns the tags.
func (a *Allocator) stop() []*tag {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.endQuit()
	tags := a.all()
	for _, t := range tags {
		t.mu.Lock()
		t.closed = true
		t.wake()
		t.mu.Unlock()
	}
	return tags
}

// giveBack returns the tag's unused ids to the store, once, and leaves a strict tag to others. The tag is closed: nobody draws
// while the rest is computed.
func (t *tag) giveBack(ctx context.Context) (int64, error) {
	if ctx.Err() != nil || !t.acquire(ctx) {
		return 0, fmt.Errorf("giving ids of tag '%s' back: %w", t.name, context.Cause(ctx))
	}
	defer t.release()
	t.mu.Lock()
	rest := t.stepDown()
	t.mu.Unlock()
	return t.giveUp(ctx, rest)
}

// giveUp gives the rest back and then, unless this node holds it anew, the strict tag. The loader is held.
func (t *tag) giveUp(ctx context.Context, rest Range) (givenBack int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.a.cfg.StatementTimeout)
	defer cancel()
	if rest.Len() > 0 {
		done, err := t.a.store.GiveBack(ctx, t.name, rest.End, rest.First)
		if err != nil {
			return 0, fmt.Errorf("giving ids of tag '%s' back: %w", t.name, err)
		}
		if done {
			givenBack = rest.Len()
		}
	}
	t.mu.Lock()
	leave := t.strict && t.held.until.IsZero()
	t.mu.Unlock()
	if leave {
		err = t.a.holds.release(ctx, t.name)
	}
	return givenBack, err
}
