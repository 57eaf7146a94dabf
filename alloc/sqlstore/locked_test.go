package sqlstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"redleaf/alloc/sqlstore/mariadbtest"
)

// Rows that somebody holds locked slow their own tags, and not the worker windows and heartbeats.
func TestLockedRowsLeaveWindowsAlone(t *testing.T) {
	server := mariadbtest.Start(t)
	url := server.Database(t)
	raw := server.Open(t, url)
	s := openStore(t, url)
	const locked = 40
	for i := range locked {
		if err := s.Create(t.Context(), fmt.Sprint("locked", i), 10, 0); err != nil {
			t.Fatal(err)
		}
	}
	tx := begin(t, raw)
	mustExec(t, tx, "UPDATE leaf_alloc SET step = 11 WHERE biz_tag LIKE 'locked%'")
	stop, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	for i := range locked { // as many refills, one a tag, tried again and again
		go func() {
			defer func() { ended <- struct{}{} }()
			for stop.Err() == nil {
				ctx, end := context.WithTimeout(stop, 2*time.Second)
				_, _ = s.Lease(ctx, fmt.Sprint("locked", i), 10)
				end()
			}
		}()
	}
	awaitLockWaits(t, raw, tagConns)
	begun := time.Now()
	ctx, end := context.WithTimeout(t.Context(), 2*time.Second)
	defer end()
	if _, err := s.Now(ctx); err != nil {
		t.Errorf("the clock, for windows and heartbeats: %v after %v", err, time.Since(begun))
	}
	cancel()
	for range locked {
		<-ended
	}
}
