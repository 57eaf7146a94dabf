package alloc

import (
	"context"
	"time"
)

const refreshPage = 1000 // rows read by one statement

// refresh reads the rows of tags in use again every Config.Refresh, so that steps changed elsewhere take effect.
func (a *Allocator) refresh() {
	for sleep(a.quit, a.cfg.Refresh) {
		if len(a.all()) == 0 {
			continue
		}
		if err := a.refreshAll(a.quit); err != nil && a.quit.Err() == nil {
			a.cfg.Logger.Warn("reading tags again failed", "err", err)
		}
	}
}

func (a *Allocator) refreshAll(ctx context.Context) error {
	for after := ""; ; {
		rows, err := a.List(ctx, after, refreshPage)
		if err != nil {
			return err
		}
		for _, row := range rows {
			a.refreshed(row)
		}
		if len(rows) < refreshPage {
			return nil
		}
		after = rows[len(rows)-1].Tag
	}
}

func (a *Allocator) refreshed(row Row) {
	t := a.tags.get([]byte(row.Tag))
	if t != nil && !t.isGone() {
		t.update(row)
	}
}

// update takes in a newer reading of the tag's row; a tag that was gone is back.
func (t *tag) update(row Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.row = row
	t.gone = false
	t.forgive()
}

// forgive forgets a verdict that is not for good. t.mu is held.
func (t *tag) forgive() {
	if !t.verdictUntil.IsZero() {
		t.verdict, t.verdictUntil = nil, time.Time{}
	}
}
