package alloc

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// MemStricts is a Stricts in memory, for tests and as the plainest statement of what one does.
type MemStricts struct {
	mu     sync.Mutex // protects what follows
	change int64
	rows   map[string]StrictTag
	nodes  map[string]memConfirmed
}

type memConfirmed struct {
	addr   string
	change int64
	at     time.Time
}

// NewMemStricts returns one in which no tag is strict.
func NewMemStricts() *MemStricts {
	return &MemStricts{rows: map[string]StrictTag{}, nodes: map[string]memConfirmed{}}
}

// MakeStrict implements Stricts.
func (m *MemStricts) MakeStrict(ctx context.Context, tag string, strict bool) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row := m.rows[tag]
	if err := ctx.Err(); err != nil || row.Strict == strict {
		return row.Change, err
	}
	count := 0
	for _, r := range m.rows {
		if r.Strict {
			count++
		}
	}
	if strict && count >= MaxStrict {
		return 0, ErrTooManyStrict
	}
	m.change++
	m.rows[tag] = StrictTag{Tag: tag, Strict: strict, Change: m.change, Beat: row.Beat + 1}
	return m.change, nil
}

// StrictTags implements Stricts.
func (m *MemStricts) StrictTags(ctx context.Context) ([]StrictTag, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.rows)), ctx.Err()
}

// StrictTag implements Stricts.
func (m *MemStricts) StrictTag(ctx context.Context, tag string) (StrictTag, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return StrictTag{}, err
	}
	row, ok := m.rows[tag]
	if !ok {
		return StrictTag{}, ErrNoTag
	}
	return row, nil
}

// Hold implements Stricts.
func (m *MemStricts) Hold(ctx context.Context, seen StrictTag, holder int64, addr string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.rows[seen.Tag]
	if err := ctx.Err(); err != nil || !ok || row.Beat != seen.Beat {
		return false, err
	}
	row.Beat++
	row.Holder, row.Addr = holder, addr
	m.rows[seen.Tag] = row
	return true, nil
}

// RenewHolds implements Stricts.
func (m *MemStricts) RenewHolds(ctx context.Context, holder int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for tag, row := range m.rows {
		if row.Holder == holder {
			row.Beat++
			m.rows[tag] = row
		}
	}
	return nil
}

// Confirm implements Stricts.
func (m *MemStricts) Confirm(ctx context.Context, node, addr string, change int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	m.nodes[node] = memConfirmed{addr, change, time.Now()}
	return nil
}

// Unconfirmed implements Stricts.
func (m *MemStricts) Unconfirmed(ctx context.Context, change int64) (nodes []StrictNode, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, n := range m.nodes {
		if n.change < change {
			nodes = append(nodes, StrictNode{ID: id, Addr: n.addr, Silent: time.Since(n.at)})
		}
	}
	slices.SortFunc(nodes, func(a, b StrictNode) int { return strings.Compare(a.ID, b.ID) })
	return nodes, ctx.Err()
}

// Withdraw implements Stricts.
func (m *MemStricts) Withdraw(ctx context.Context, node string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	delete(m.nodes, node)
	return nil
}
