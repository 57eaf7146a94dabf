package alloc

import (
	"context"
	"time"
)

// Status is a tag's row and its live state on this node.
type Status struct {
	Row      Row   // as this node last read it; MaxID at least what it was granted
	Last     int64 // the last id issued here; 0 when none was
	Left     int64 // ids left in the current segment
	Next     int64 // ids ready behind it
	NextStep int64 // how many ids the next refill leases
	Refills  int64 // refills that succeeded, since the start
	Waits    int64 // calls that had to wait for a segment, since the start
	Err      error // why the last store call failed; nil after a success

	Strict bool   // its ids rise across all nodes
	Holder string // the address of the node that was last seen to serve it; "" if none, or if it is not strict
}

// Status returns the tag's row and the live state of its segments, reading the store when the tag is not in use here. It
// never draws or creates. Errors: ErrNoTag, ErrBadTag, ErrCollation, ErrUnavailable.
func (a *Allocator) Status(ctx context.Context, name string) (Status, error) {
	if t := a.inUse(name); t != nil {
		return t.status(), nil
	}
	if err := CheckTag(name); err != nil {
		return Status{}, err
	}
	a.mu.RLock()
	r := a.refusals[name]
	a.mu.RUnlock()
	if time.Now().Before(r.until) {
		return Status{}, r.err
	}
	ctx, cancel := context.WithTimeout(ctx, a.cfg.StatementTimeout)
	defer cancel()
	row, err := a.store.Lookup(ctx, name)
	if err != nil {
		return Status{}, outcome(err)
	}
	strict, _ := a.holds.row([]byte(name))
	return Status{Row: row, NextStep: row.Step, Strict: strict.Strict, Holder: strict.Addr}, nil
}

// List returns up to limit rows whose tags sort after the given one: see Store.
func (a *Allocator) List(ctx context.Context, after string, limit int) ([]Row, error) {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.StatementTimeout)
	defer cancel()
	rows, err := a.store.List(ctx, after, limit)
	return rows, outcome(err)
}

// Count returns the number of tags in the store.
func (a *Allocator) Count(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.StatementTimeout)
	defer cancel()
	n, err := a.store.Count(ctx)
	return n, outcome(err)
}

// Totals are sums over all tags since the start.
type Totals struct {
	Tags      int   // tags in use on this node
	Issued    int64 // ids drawn
	Refills   int64 // refills that succeeded
	Failures  int64 // store calls for segments that failed
	Waits     int64 // calls that had to wait for a segment
	Backwards int64 // times that the store was seen to have gone backwards
}

// Totals adds up the tags' counters.
func (a *Allocator) Totals() Totals {
	var sum Totals
	for _, t := range a.all() {
		t.mu.Lock()
		if !t.gone {
			sum.Tags++
		}
		sum.Issued += t.issued
		sum.Refills += t.refills
		sum.Failures += t.failures
		sum.Waits += t.waits
		sum.Backwards += t.backwards
		t.mu.Unlock()
	}
	return sum
}

// all returns the tags in use, in no order.
func (a *Allocator) all() []*tag { return a.tags.list() }
