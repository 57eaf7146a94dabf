package alloc

import (
	"context"
	"time"
)

// MakeStrict says whether the tag is strict from now on: whether its ids rise across all nodes, in that a draw that begins
// after another has ended, anywhere, gives a higher id. It waits until all nodes of the store have confirmed a tag to be strict;
// before that it is not. Errors: *UnconfirmedError, ErrTooManyStrict, and Configure's.
func (a *Allocator) MakeStrict(ctx context.Context, name string, strict bool) error {
	if err := CheckTag(name); err != nil {
		return err
	}
	if a.holds == nil {
		return errNotStrict
	}
	stmt, cancel := context.WithTimeout(ctx, a.cfg.StatementTimeout)
	defer cancel()
	if _, err := a.store.Lookup(stmt, name); err != nil {
		return outcome(err)
	}
	change, err := a.holds.store.MakeStrict(stmt, name, strict)
	if err != nil {
		return outcome(err)
	}
	a.holds.now()
	if !strict {
		return nil
	}
	return a.holds.awaitConfirmed(ctx, name, change)
}

// now has the strict tags looked at now.
func (h *holds) now() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

func (h *holds) awaitConfirmed(ctx context.Context, name string, change int64) error {
	ctx, cancel := context.WithTimeout(ctx, confirmTime)
	defer cancel()
	for {
		nodes, err := h.unconfirmed(change)
		switch {
		case err != nil:
			return outcome(err)
		case len(nodes) == 0:
			return nil
		case !sleep(ctx, 50*time.Millisecond):
			return &UnconfirmedError{name, nodes}
		}
	}
}

func (h *holds) unconfirmed(change int64) (nodes []StrictNode, err error) {
	err = h.statement(func(ctx context.Context) (err error) {
		nodes, err = h.store.Unconfirmed(ctx, change)
		return err
	})
	return nodes, err
}

// holdWaiting has this node hold the tag if it must, for a change of its row; until ctx is done it waits for another node to
// let go. The loader is held.
func (t *tag) holdWaiting(ctx context.Context) error {
	for failures := 1; ; failures++ {
		err := t.ensureHold()
		if err == nil || !passing(err) || !sleep(ctx, pause(failures)) {
			return err
		}
	}
}

// stillHeld is the error of a change of a strict tag's row during which its hold ended: others may not have heeded it.
func (t *tag) stillHeld() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.strict && !t.holds(time.Now()) {
		return errLapsed
	}
	return nil
}

// Strict reports whether the tag is strict, as far as this node has heard.
func (a *Allocator) Strict(name []byte) bool {
	row, _ := a.holds.row(name)
	return row.Strict
}

// AnyStrict reports whether any tag is. It costs next to nothing.
func (a *Allocator) AnyStrict() bool { return a.holds != nil && a.holds.any.Load() }

// Held returns the strict tags that this node holds.
func (a *Allocator) Held() (names []string) {
	if a.holds == nil {
		return nil
	}
	for _, t := range a.holds.held() {
		names = append(names, t.name)
	}
	return names
}

// Yield leaves a strict tag that this node holds to the others, in the background. The next draw here takes it again.
func (a *Allocator) Yield(name string) {
	if t := a.inUse(name); t != nil && t.isHeld() {
		a.handBack(t)
	}
}

// handBack gives back what is left of a strict tag, and then the tag itself.
func (a *Allocator) handBack(t *tag) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.closed { // Close does it
		return
	}
	t.mu.Lock()
	rest := t.stepDown()
	t.mu.Unlock()
	a.work.Go(func() {
		if !t.acquire(a.quit) {
			return
		}
		defer t.release()
		if _, err := t.giveUp(a.life, rest); err != nil {
			a.cfg.Logger.Warn("leaving a strict tag to other nodes failed; they wait for its lease to end", "tag", t.name, "err", err)
		}
	})
}
