package server

import (
	"context"
	"time"
)

const (
	othersKnow = watchEvery + 500*time.Millisecond // until all nodes have read that one is gone
	movingTime = time.Second                       // for which MOVED is answered at least
	quietTime  = 500 * time.Millisecond            // without MOVED: all clients have gone
	closeGrace = 500 * time.Millisecond            // for clients of the sentinel protocol to connect elsewhere
)

// Leave sends clients to the other nodes, if there are any and clients know of them. The caller has removed this node's
// heartbeat; Shutdown follows. It returns when clients have gone or ctx is done.
func (s *Server) Leave(ctx context.Context) {
	if !s.watch.leave(s) {
		return
	}
	if s.connected() == 0 || !wait(ctx, othersKnow) {
		return
	}
	s.announceSuccessor()
	if !s.cfg.Cluster {
		wait(ctx, closeGrace)
		return
	}
	s.watch.generation.Store(everMoving)
	s.yieldStrict(nil, true)
	if !wait(ctx, movingTime) {
		return
	}
	for before := int64(-1); before != s.watch.redirects.Load(); {
		before = s.watch.redirects.Load()
		if !wait(ctx, quietTime) {
			return
		}
	}
}

// wait reports whether the time has passed before ctx was done.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
