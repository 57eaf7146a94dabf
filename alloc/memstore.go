package alloc

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// MemStore is a Store in memory, for tests and as the plainest statement of what a Store does.
type MemStore struct {
	mu   sync.Mutex // protects data
	data memData
}

type memData struct {
	rows    map[string]Row
	retired map[string]int64 // max_id of deleted tags
	first   int64            // where new tags begin; 0: at 1
}

// NewMemStore returns an empty store.
func NewMemStore() *MemStore {
	return &MemStore{data: memData{rows: map[string]Row{}, retired: map[string]int64{}}}
}

// Snapshot returns a copy of the store's state, for Restore.
func (m *MemStore) Snapshot() *MemStore {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &MemStore{data: m.data.clone()}
}

// Restore sets the store back to a snapshot, as a restored backup does: writes since then are lost.
func (m *MemStore) Restore(snapshot *MemStore) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = snapshot.data.clone()
}

func (d memData) clone() memData {
	return memData{rows: maps.Clone(d.rows), retired: maps.Clone(d.retired), first: d.first}
}

// start returns where a tag begins that is made now.
func (d memData) start(tag string) int64 { return max(1, d.first, d.retired[tag]) }

// Lease implements Store.
func (m *MemStore) Lease(ctx context.Context, tag string, n int64) (Range, error) {
	var r Range
	err := m.change(ctx, tag, func(row *Row) error {
		if row.MaxID > math.MaxInt64-n {
			return ErrExhausted
		}
		r = Range{First: row.MaxID, End: row.MaxID + n}
		row.MaxID = r.End
		return nil
	})
	return r, err
}

// Lookup implements Store.
func (m *MemStore) Lookup(ctx context.Context, tag string) (row Row, err error) {
	err = m.change(ctx, tag, func(r *Row) error {
		row = *r
		return nil
	})
	return row, err
}

// change runs f on the tag's row and keeps what f made of it, unless f fails.
func (m *MemStore) change(ctx context.Context, tag string, f func(*Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.data.rows[tag]
	if !ok {
		return ErrNoTag
	}
	old := row
	if err := f(&row); err != nil {
		return err
	}
	if row != old {
		row.Updated = time.Now()
	}
	m.data.rows[tag] = row
	return nil
}

// List implements Store.
func (m *MemStore) List(ctx context.Context, after string, limit int) ([]Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []Row
	for _, tag := range slices.Sorted(maps.Keys(m.data.rows)) {
		if tag > after && len(rows) < limit {
			rows = append(rows, m.data.rows[tag])
		}
	}
	return rows, nil
}

// Count implements Store.
func (m *MemStore) Count(ctx context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(len(m.data.rows)), ctx.Err()
}

// Create implements Store.
func (m *MemStore) Create(ctx context.Context, tag string, step, maxTags int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.data.rows[tag]; ok {
		return nil
	}
	if n := int64(len(m.data.rows)); maxTags > 0 && n >= maxTags {
		return fmt.Errorf("%w: there are %d", ErrTooManyTags, n)
	}
	m.insert(tag, m.data.start(tag), step)
	return nil
}

func (m *MemStore) insert(tag string, maxID, step int64) {
	m.data.rows[tag] = Row{Tag: tag, MaxID: maxID, Step: step, Updated: time.Now()}
}

// Advance implements Store.
func (m *MemStore) Advance(ctx context.Context, tag string, maxID, step int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.data.rows[tag]
	at := row.MaxID
	if !ok {
		at = m.data.start(tag)
	}
	if maxID < at {
		return &FloorError{Tag: tag, Floor: at - 1}
	}
	if !ok {
		m.insert(tag, maxID, step)
		return nil
	}
	row.MaxID, row.Updated = maxID, time.Now()
	m.data.rows[tag] = row
	return nil
}

// Configure implements Store.
func (m *MemStore) Configure(ctx context.Context, tag string, s Settings) error {
	return m.change(ctx, tag, func(row *Row) error {
		if s.Step != nil {
			row.Step = *s.Step
		}
		if s.Description != nil {
			row.Description = *s.Description
		}
		return nil
	})
}

// Retire implements Store.
func (m *MemStore) Retire(ctx context.Context, tag string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.data.rows[tag]
	if !ok {
		return ErrNoTag
	}
	m.data.retired[tag] = max(m.data.retired[tag], row.MaxID)
	delete(m.data.rows, tag)
	return nil
}

// GiveBack implements Store.
func (m *MemStore) GiveBack(ctx context.Context, tag string, end, next int64) (done bool, err error) {
	err = m.change(ctx, tag, func(row *Row) error {
		if done = row.MaxID == end; done {
			row.MaxID = next
		}
		return nil
	})
	return done, err
}
