package alloc

import (
	"context"
	"log/slog"
	"time"
)

// beatEvery is the time between heartbeats: three may be missed before a node counts as dead (NodeTimeout).
const beatEvery = time.Second

// Heartbeat records that n is alive, at once and then every second, until ctx is done; then it removes n's row. It
// returns when that is done or timeout, the deadline of each store call, has passed. Failures are logged once a streak.
func Heartbeat(ctx context.Context, nodes Nodes, n Node, timeout time.Duration, log *slog.Logger) {
	failing := false
	for {
		err := beat(ctx, nodes, n, timeout)
		if ctx.Err() != nil {
			break
		}
		switch {
		case err != nil && !failing:
			log.Warn("heartbeat failed", "err", err)
		case err == nil && failing:
			log.Info("heartbeats work again")
		}
		failing = err != nil
		if !sleep(ctx, beatEvery) {
			break
		}
	}
	leave(nodes, n, timeout, log)
}

func beat(ctx context.Context, nodes Nodes, n Node, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return nodes.Beat(ctx, n)
}

func leave(nodes Nodes, n Node, timeout time.Duration, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := nodes.Leave(ctx, n.ID); err != nil {
		log.Warn("removing the heartbeat failed; it ages out by itself", "err", err)
	}
}
