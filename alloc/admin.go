package alloc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// maxDescription is the longest description, in characters: Leaf's column is varchar(256).
const maxDescription = 256

// Set makes the tag's next id on this node n+1 (n from 0 to MaxInt64-1), as INCR follows Redis's SET. It creates the tag
// if it is missing, and drops what this node held for it; other nodes finish what they hold. Errors: *FloorError when n
// lies below what was leased, ErrBadTag, ErrCollation, ErrUnavailable (it may have happened), ErrClosed.
func (a *Allocator) Set(ctx context.Context, name string, n int64) error {
	if err := CheckTag(name); err != nil {
		return err
	}
	if n < 0 {
		return &FloorError{Tag: name, Floor: 0}
	}
	if n == math.MaxInt64 {
		return fmt.Errorf("tag '%s': %w", name, ErrExhausted)
	}
	return a.withLoader(ctx, name, func(t *tag) error {
		stmt, cancel := a.statement()
		defer cancel()
		err := a.store.Advance(stmt, name, n+1, a.cfg.Step)
		if err == nil {
			err = t.stillHeld()
		}
		if err != nil {
			return err
		}
		row, err := a.store.Lookup(stmt, name)
		t.advanced(n+1, row, err == nil)
		return nil
	})
}

// advanced notes that the store's row stands at maxID or above and that nothing below may be issued any more. Without
// the row the tag is looked up by its next draw. The loader is held.
func (t *tag) advanced(maxID int64, row Row, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.segs.drop()
	t.floor = max(t.floor, maxID)
	t.step = 0
	t.gone = !known
	if known {
		t.row = row
	}
	t.wake() // nothing is leased before somebody draws: another SET may follow
}

// Configure changes the tag's settings in the store and here; a raised step counts from the next refill.
// Errors: ErrNoTag, ErrBadStep, ErrBadDescription, ErrBadTag, ErrUnavailable (it may have happened).
func (a *Allocator) Configure(ctx context.Context, name string, s Settings) error {
	if err := CheckTag(name); err != nil {
		return err
	}
	if s.Step != nil && (*s.Step < 1 || *s.Step > MaxStep) {
		return ErrBadStep
	}
	if d := s.Description; d != nil && (!utf8.ValidString(*d) || utf8.RuneCountInString(*d) > maxDescription) {
		return ErrBadDescription
	}
	stmt, cancel := context.WithTimeout(ctx, a.cfg.StatementTimeout)
	defer cancel()
	if err := a.store.Configure(stmt, name, s); err != nil {
		return outcome(err)
	}
	if t := a.inUse(name); t != nil {
		t.configured(s)
	}
	return nil
}

func (t *tag) configured(s Settings) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Step != nil {
		t.row.Step = *s.Step
		t.forgive() // the step may have been what was wrong
	}
	if s.Description != nil {
		t.row.Description = *s.Description
	}
}

// Delete retires the tag and drops what this node held for it; other nodes finish what they hold.
// Errors: ErrNoTag, ErrBadTag, ErrUnavailable (it may have happened), ErrClosed.
func (a *Allocator) Delete(ctx context.Context, name string) error {
	if _, err := a.Status(ctx, name); err != nil {
		return outcome(err)
	}
	return a.withLoader(ctx, name, func(t *tag) error {
		stmt, cancel := a.statement()
		defer cancel()
		err := a.store.Retire(stmt, name)
		if err == nil || errors.Is(err, ErrNoTag) {
			t.mu.Lock()
			t.vanish()
			t.mu.Unlock()
		}
		if err == nil && a.Strict([]byte(name)) {
			_, err = a.holds.store.MakeStrict(stmt, name, false)
			a.holds.now()
		}
		return err
	})
}

// withLoader runs a change of the tag's row, which only the node that holds a strict tag makes, while no other statement for it is under way, so that no range granted
// before it arrives after it.
func (a *Allocator) withLoader(ctx context.Context, name string, change func(*tag) error) error {
	t, err := a.entry(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, a.Wait()+a.cfg.StatementTimeout)
	defer cancel()
	if !t.acquire(ctx) {
		return fmt.Errorf("%w: %w", ErrUnavailable, errNoAnswer)
	}
	defer t.release()
	if err := t.holdWaiting(ctx); err != nil {
		return outcome(err)
	}
	return outcome(change(t))
}

// entry returns the tag of this name, or a new one that counts as gone until its row is read.
func (a *Allocator) entry(name string) (*tag, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	delete(a.refusals, name)
	if t := a.tags.get([]byte(name)); t != nil {
		return t, nil
	}
	t := newTag(a, Row{Tag: name})
	t.gone = true
	return a.use(t), nil
}

// outcome marks an error that is none of the sentinels as one whose effect is unknown.
func outcome(err error) error {
	if _, floor := errors.AsType[*FloorError](err); err == nil || floor || !passing(err) || errors.Is(err, ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
