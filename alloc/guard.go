package alloc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Guard is a Store whose changes pass a gate, and that remembers what it was granted, to raise rows to after a failover.
type Guard struct {
	Store
	gate *Gate

	mu    sync.Mutex // protects marks
	marks map[string]mark
}

// mark is what this node knows of a tag. Only what it was granted tells whether the store went backwards: where SET left
// the row, another node that gives ids back may lower it.
type mark struct {
	granted, set int64
	step         int64
	gone         bool
}

// NewGuard returns a guard of the store whose rows r can raise.
func NewGuard(store Store, r Raiser, gate *Gate) *Guard {
	g := &Guard{Store: store, gate: gate, marks: map[string]mark{}}
	gate.OnRaise(func(ctx context.Context, server string) error { return r.RaiseTags(ctx, server, g.Marks()) })
	return g
}

// Marks returns what this node knows of the tags, by tag.
func (g *Guard) Marks() []Mark {
	g.mu.Lock()
	defer g.mu.Unlock()
	marks := make([]Mark, 0, len(g.marks))
	for tag, m := range g.marks {
		marks = append(marks, Mark{Tag: tag, End: max(m.granted, m.set), Step: m.step, Gone: m.gone})
	}
	slices.SortFunc(marks, func(a, b Mark) int { return strings.Compare(a.Tag, b.Tag) })
	return marks
}

// granted moves the tag's mark up to the end of a range and returns where it was.
func (g *Guard) granted(tag string, end int64) (before int64) {
	g.change(tag, true, func(m *mark) {
		before = m.granted
		m.granted, m.gone = max(m.granted, end), false
	})
	return before
}

// change changes what is known of a tag. What nobody leased from here is noted only where note says so.
func (g *Guard) change(tag string, note bool, f func(*mark)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m, ok := g.marks[tag]
	if !ok && !note {
		return
	}
	f(&m)
	g.marks[tag] = m
}

func deleted(m *mark) { m.gone = true }

// gated runs a call that changes rows.
func (g *Guard) gated(f func() error) error {
	if err := g.gate.Enter(); err != nil {
		return err
	}
	defer g.gate.Leave()
	return f()
}

// Lease implements Store. A range below what this node was granted before has the nodes agree, and is not used.
func (g *Guard) Lease(ctx context.Context, tag string, n int64) (r Range, err error) {
	err = g.gated(func() (err error) {
		r, err = g.Store.Lease(ctx, tag, n)
		if errors.Is(err, ErrNoTag) {
			g.change(tag, false, deleted)
		}
		if err != nil {
			return err
		}
		if known := g.granted(tag, r.End); r.First < known && g.gate.Suspect() {
			return fmt.Errorf("%w: it granted ids from %d, but this node was already granted ids up to %d", ErrWentBackwards, r.First, known-1)
		}
		return nil
	})
	return r, err
}

// Lookup implements Store.
func (g *Guard) Lookup(ctx context.Context, tag string) (Row, error) {
	row, err := g.Store.Lookup(ctx, tag)
	if err == nil {
		g.change(tag, false, func(m *mark) { m.step = row.Step })
	}
	return row, err
}

// Create implements Store.
func (g *Guard) Create(ctx context.Context, tag string, step, maxTags int64) error {
	return g.gated(func() error { return g.Store.Create(ctx, tag, step, maxTags) })
}

// Advance implements Store.
func (g *Guard) Advance(ctx context.Context, tag string, maxID, step int64) error {
	return g.gated(func() error {
		err := g.Store.Advance(ctx, tag, maxID, step)
		if err == nil {
			g.change(tag, true, func(m *mark) { m.set, m.step, m.gone = max(m.set, maxID), step, false })
		}
		return err
	})
}

// Configure implements Store.
func (g *Guard) Configure(ctx context.Context, tag string, s Settings) error {
	return g.gated(func() error { return g.Store.Configure(ctx, tag, s) })
}

// Retire implements Store.
func (g *Guard) Retire(ctx context.Context, tag string) error {
	return g.gated(func() error {
		err := g.Store.Retire(ctx, tag)
		if err == nil {
			g.change(tag, false, deleted)
		}
		return err
	})
}

// GiveBack implements Store. While nothing may be leased, nothing is given back either: the ids are a gap.
func (g *Guard) GiveBack(ctx context.Context, tag string, end, next int64) (done bool, err error) {
	if g.gate.Enter() != nil {
		return false, nil
	}
	defer g.gate.Leave()
	done, err = g.Store.GiveBack(ctx, tag, end, next)
	if done || err != nil { // the store may grant the rest again, or may have said so
		g.change(tag, false, func(m *mark) { m.granted, m.set = next, min(m.set, next) })
	}
	return done, err
}
