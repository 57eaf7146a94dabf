package httpd

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"redleaf/alloc"
)

// silentStore answers when answers is closed.
type silentStore struct {
	*alloc.MemStore
	answers chan struct{}
}

func (s *silentStore) List(ctx context.Context, after string, limit int) ([]alloc.Row, error) {
	select {
	case <-s.answers:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.MemStore.List(ctx, after, limit)
}

// A page does not wait long for a store that does not answer, whether it has rows to show or not, and does not try again
// at once. A reading that takes longer than a page waits is there for the next one.
func TestCatalogOfASilentStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &silentStore{MemStore: alloc.NewMemStore(), answers: make(chan struct{})}
		if err := store.Create(t.Context(), "orders", 1000, 0); err != nil {
			t.Fatal(err)
		}
		a := alloc.New(store, alloc.Config{})
		defer a.Close(t.Context())
		var c catalog
		look := func(rows int, atMost time.Duration) {
			t.Helper()
			begun := time.Now()
			if l := c.list(t.Context(), a); len(l.rows) != rows {
				t.Errorf("%d rows, want %d", len(l.rows), rows)
			}
			if took := time.Since(begun); took > atMost {
				t.Errorf("a page waited %v", took)
			}
		}
		look(0, catalogWait)
		if l := c.copy(); !errors.Is(l.err, errUnread) {
			t.Errorf("before any answer: %v", l.err)
		}
		close(store.answers) // late
		synctest.Wait()
		look(1, 0)
		store.answers = make(chan struct{})
		time.Sleep(time.Hour)
		look(1, catalogWait)
		time.Sleep(2 * catalogTime)
		if l := c.copy(); l.err == nil || len(l.rows) != 1 {
			t.Errorf("after a reading in vain: %+v", l)
		}
		close(store.answers)
	})
}
