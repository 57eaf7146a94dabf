package snowflake

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// MemWindows is a Windows in memory, for tests and as the plainest statement of what a Windows does.
type MemWindows struct {
	now func() int64

	mu     sync.Mutex // protects everything below
	layout Layout
	rows   map[int]Worker
}

// NewMemWindows returns an empty store whose clock is now, in Unix milliseconds.
func NewMemWindows(now func() int64) *MemWindows {
	return &MemWindows{now: now, rows: map[int]Worker{}}
}

// RecordLayout implements Windows.
func (m *MemWindows) RecordLayout(ctx context.Context, l Layout) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.layout == (Layout{}) {
		m.layout = l
	}
	if m.layout != l {
		return fmt.Errorf("%w: asked for bits %s and epoch %d, the store has %s and %d",
			ErrLayout, l.Bits(), l.Epoch, m.layout.Bits(), m.layout.Epoch)
	}
	return nil
}

// Now implements Windows.
func (m *MemWindows) Now(ctx context.Context) (int64, error) { return m.now(), ctx.Err() }

// Workers implements Windows.
func (m *MemWindows) Workers(ctx context.Context, lo, hi int) ([]Worker, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []Worker
	for id, w := range m.rows {
		if lo <= id && id <= hi {
			rows = append(rows, w)
		}
	}
	slices.SortFunc(rows, func(a, b Worker) int { return cmp.Compare(a.ID, b.ID) })
	return rows, nil
}

// Swap implements Windows.
func (m *MemWindows) Swap(ctx context.Context, old int64, w Worker) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows[w.ID].Token != old {
		return ErrSwapped
	}
	m.rows[w.ID] = w
	return nil
}
