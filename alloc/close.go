package alloc

import (
	"context"
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

// giveBack returns the tag's unused ids to the store, once. The tag is closed: nobody draws while the rest is computed.
func (t *tag) giveBack(ctx context.Context) (int64, error) {
	if ctx.Err() != nil || !t.acquire(ctx) {
		return 0, fmt.Errorf("giving ids of tag '%s' back: %w", t.name, context.Cause(ctx))
	}
	defer t.release()
	t.mu.Lock()
	rest := t.segs.tail()
	t.segs.drop()
	t.mu.Unlock()
	if rest.Len() == 0 {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.a.cfg.StatementTimeout)
	defer cancel()
	done, err := t.a.store.GiveBack(ctx, t.name, rest.End, rest.First)
	if err != nil {
		return 0, fmt.Errorf("giving ids of tag '%s' back: %w", t.name, err)
	}
	if !done {
		return 0, nil
	}
	return rest.Len(), nil
}
