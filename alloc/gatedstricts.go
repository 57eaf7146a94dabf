package alloc

import "context"

// Stricts returns the store's strict tags for nodes that agree on the database server: nothing is read or written while they
// do not, and what was seen under one agreement counts for nothing under the next, whose server may lack what was written
// since. A lease that a node has from before ends while the nodes agree, or soon after, since nothing renews it.
func (g *Gate) Stricts(store Stricts) Stricts { return gatedStricts{store, g} }

type gatedStricts struct {
	Stricts
	gate *Gate
}

// under runs a call, and tells it under which agreement.
func (s gatedStricts) under(f func(term int64) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return f(s.gate.knowledge().agreed.term)
}

// MakeStrict implements Stricts.
func (s gatedStricts) MakeStrict(ctx context.Context, tag string, strict bool) (change int64, err error) {
	err = s.under(func(int64) (err error) {
		change, err = s.Stricts.MakeStrict(ctx, tag, strict)
		return err
	})
	return change, err
}

// StrictTags implements Stricts.
func (s gatedStricts) StrictTags(ctx context.Context) (rows []StrictTag, err error) {
	err = s.under(func(term int64) (err error) {
		rows, err = s.Stricts.StrictTags(ctx)
		for i := range rows {
			rows[i].Term = term
		}
		return err
	})
	return rows, err
}

// StrictTag implements Stricts.
func (s gatedStricts) StrictTag(ctx context.Context, tag string) (row StrictTag, err error) {
	err = s.under(func(term int64) (err error) {
		row, err = s.Stricts.StrictTag(ctx, tag)
		row.Term = term
		return err
	})
	return row, err
}

// Hold implements Stricts.
func (s gatedStricts) Hold(ctx context.Context, seen StrictTag, holder int64, addr string) (ok bool, err error) {
	err = s.under(func(term int64) (err error) {
		if seen.Term != term {
			return nil
		}
		ok, err = s.Stricts.Hold(ctx, seen, holder, addr)
		return err
	})
	return ok, err
}

// RenewHolds implements Stricts.
func (s gatedStricts) RenewHolds(ctx context.Context, holder int64) error {
	return s.under(func(int64) error { return s.Stricts.RenewHolds(ctx, holder) })
}
