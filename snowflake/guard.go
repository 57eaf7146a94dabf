package snowflake

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Gate says when the rows may be changed: not while nodes agree on a database server that may have lost writes.
type Gate interface {
	Enter() error
	Leave()
	// Spoken is the Unix millisecond up to which worker ids without a row are spoken for.
	Spoken() int64
}

// Guard is a Windows whose changes pass a gate, and that remembers what it wrote, to raise rows to after a failover.
type Guard struct {
	Windows
	gate Gate

	mu   sync.Mutex // protects held
	held map[int]Worker
}

// NewGuard returns a guard of the store.
func NewGuard(w Windows, gate Gate) *Guard {
	return &Guard{Windows: w, gate: gate, held: map[int]Worker{}}
}

// Held returns the rows as this node last wrote them, by worker id. Windows of theirs may have passed.
func (g *Guard) Held() []Worker {
	g.mu.Lock()
	defer g.mu.Unlock()
	rows := make([]Worker, 0, len(g.held))
	for _, w := range g.held {
		rows = append(rows, w)
	}
	slices.SortFunc(rows, func(a, b Worker) int { return cmp.Compare(a.ID, b.ID) })
	return rows
}

// RecordLayout implements Windows.
func (g *Guard) RecordLayout(ctx context.Context, l Layout) error {
	if err := g.gate.Enter(); err != nil {
		return err
	}
	defer g.gate.Leave()
	return g.Windows.RecordLayout(ctx, l)
}

// Swap implements Windows.
func (g *Guard) Swap(ctx context.Context, old int64, w Worker) error {
	if err := g.gate.Enter(); err != nil {
		return err
	}
	defer g.gate.Leave()
	err := g.Windows.Swap(ctx, old, w)
	if err == nil {
		g.mu.Lock()
		g.held[w.ID] = w
		g.mu.Unlock()
	}
	return err
}

// Workers implements Windows. Worker ids whose rows may have been lost count as spoken for up to the gate's time: they
// are shown as rows without a token.
func (g *Guard) Workers(ctx context.Context, lo, hi int) ([]Worker, error) {
	rows, err := g.Windows.Workers(ctx, lo, hi)
	spoken := g.gate.Spoken()
	if err != nil || spoken == 0 {
		return rows, err
	}
	all := make([]Worker, 0, hi-lo+1)
	for id := lo; id <= hi; id++ {
		w := Worker{ID: id, Until: spoken}
		if len(rows) > 0 && rows[0].ID == id {
			w, rows = rows[0], rows[1:]
		}
		all = append(all, w)
	}
	return all, nil
}
