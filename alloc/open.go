package alloc

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	refusalTime = time.Second // how long a name that can't be had is refused without asking the store again
	maxRefusals = 10_000      // how many such names are remembered
)

// refusal is why a name can't be had, and until when that is believed.
type refusal struct {
	err   error
	until time.Time
}

// opening is a look-up under way, shared by all who ask for the tag. done is closed when t or err is set.
type opening struct {
	done chan struct{}
	t    *tag
	err  error
}

// open returns the tag, looking it up, or creating it where drawing may, if it is not in use yet. A store in trouble is
// asked again until ctx is done.
func (a *Allocator) open(ctx context.Context, name string) (*tag, error) {
	if t := a.inUse(name); t != nil {
		return t, nil
	}
	if err := CheckTag(name); err != nil {
		return nil, err
	}
	cause := errNoAnswer                              // the last that is known
	for failures := 1; ctx.Err() == nil; failures++ { // a call without patience starts no work
		t, err := a.openOnce(ctx, name)
		if err == nil || !passing(err) {
			return t, err
		}
		if !errors.Is(err, errNoAnswer) {
			cause = err
		}
		sleep(ctx, pause(failures))
	}
	return nil, &UnavailableError{Tag: name, Wait: a.Wait(), Cause: cause}
}

// passing reports whether an error may be gone at the next try.
func passing(err error) bool {
	for _, final := range []error{ErrNoTag, ErrTooManyTags, ErrCollation, ErrBadTag, ErrBadStep, ErrBadDescription, ErrClosed, ErrStopped} {
		if errors.Is(err, final) {
			return false
		}
	}
	return true
}

// inUse returns the tag if it is in use here and has not been found deleted.
func (a *Allocator) inUse(name string) *tag {
	t := a.tags.get([]byte(name))
	if t == nil || t.isGone() {
		return nil
	}
	return t
}

// openOnce waits for one look-up, its own or the one under way.
func (a *Allocator) openOnce(ctx context.Context, name string) (*tag, error) {
	o, err := a.startOpening(name)
	if err != nil {
		return nil, err
	}
	select {
	case <-o.done:
		return o.t, o.err
	case <-ctx.Done():
		return nil, errNoAnswer
	}
}

func (a *Allocator) startOpening(name string) (*opening, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	if o := a.openings[name]; o != nil {
		return o, nil
	}
	if r := a.refusals[name]; time.Now().Before(r.until) {
		return nil, r.err
	}
	o := &opening{done: make(chan struct{})}
	a.openings[name] = o
	a.work.Go(func() { a.finishOpening(name, o) })
	return o, nil
}

func (a *Allocator) finishOpening(name string, o *opening) {
	row, err := a.find(name)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.openings, name)
	switch {
	case a.closed: // a tag put to use now would escape Close
		err = ErrClosed
	case err == nil:
		o.t = a.adopt(row)
	case !passing(err):
		a.refuse(name, err)
	}
	o.err = err
	close(o.done)
}

// find reads the tag's row, creating it where drawing may.
func (a *Allocator) find(name string) (Row, error) {
	row, err := a.lookup(name)
	if !a.cfg.AutoCreate || !errors.Is(err, ErrNoTag) {
		return row, err
	}
	ctx, cancel := a.statement()
	defer cancel()
	if err := a.store.Create(ctx, name, a.cfg.Step, a.cfg.MaxTags); err != nil {
		return Row{}, fmt.Errorf("creating tag '%s': %w", name, err)
	}
	a.cfg.Logger.Info("tag created", "tag", name, "step", a.cfg.Step)
	return a.lookup(name)
}

func (a *Allocator) lookup(name string) (Row, error) {
	ctx, cancel := a.statement()
	defer cancel()
	row, err := a.store.Lookup(ctx, name)
	if err != nil {
		return Row{}, fmt.Errorf("looking up tag '%s': %w", name, err)
	}
	return row, nil
}

// adopt puts a row to use. The one tag of a name stays for good: its loader and its high mark must never be doubled or
// forgotten. a.mu is held.
func (a *Allocator) adopt(row Row) *tag {
	delete(a.refusals, row.Tag)
	t := a.tags.get([]byte(row.Tag))
	if t == nil {
		return a.use(newTag(a, row))
	}
	t.update(row)
	return t
}

// use puts a tag in the index, unless there is one of the name, and returns the one that is there. Nobody draws from it
// before it is known whether it is strict.
func (a *Allocator) use(t *tag) *tag {
	t.mu.Lock()
	defer t.mu.Unlock()
	there := a.tags.add(t)
	if row, ok := a.holds.row([]byte(t.name)); ok && there == t {
		t.heed(row)
	}
	return there
}

// refuse remembers for a moment why the name can't be had, so that a mistyped tag under load costs the store little.
// a.mu is held.
func (a *Allocator) refuse(name string, err error) {
	if len(a.refusals) >= maxRefusals {
		clear(a.refusals)
	}
	a.refusals[name] = refusal{err, time.Now().Add(refusalTime)}
}
