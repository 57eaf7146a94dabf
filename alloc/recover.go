package alloc

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Recover has the nodes agree on the server that answers, with a gap of the operator's choice (NoGap: none), in place of
// any agreement that is due or under way, and returns when that is done. Nodes need not be there.
func Recover(ctx context.Context, store Failovers, cfg GateConfig, gap int64) (Record, error) {
	cfg.Policy = PolicyGap
	g := NewGate(cfg)
	g.store = store
	mine, err := g.beginRecovery(ctx, gap)
	if err != nil {
		return mine, err
	}
	for {
		v, err := g.view(ctx, false)
		switch {
		case err != nil:
			g.cfg.Logger.Warn("looking at the database server failed", "err", err)
		case v.Record.agreement() != mine.agreement():
			return v.Record, fmt.Errorf("%w: the record is now of server %s, term %d", ErrRecordChanged, v.Record.Server, v.Record.Term)
		case !v.Record.Open:
			return v.Record, nil
		case protocol{wait: g.cfg.Wait}.ready(v):
			if err := g.skip(ctx, v); err != nil && !errors.Is(err, ErrRecordChanged) {
				return v.Record, err
			}
			continue
		}
		if !sleep(ctx, min(time.Second, g.cfg.Wait/6)) {
			return mine, context.Cause(ctx)
		}
	}
}

// beginRecovery writes the record that the nodes then act on.
func (g *Gate) beginRecovery(ctx context.Context, gap int64) (Record, error) {
	for range 10 {
		v, err := g.view(ctx, true)
		if err != nil {
			return Record{}, err
		}
		term := v.Record.Term
		for _, n := range v.Nodes {
			term = max(term, n.Term)
		}
		r := Record{Server: v.Server, Term: term + 1, Open: true, Began: v.Now, Gap: gap, Spoken: v.Record.Spoken}
		if err := g.put(ctx, v, r); !errors.Is(err, ErrRecordChanged) {
			return r, err
		}
	}
	return Record{}, ErrRecordChanged
}
