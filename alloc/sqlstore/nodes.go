package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"redleaf/alloc"
)

// nodeMemory is how long a node that is gone is remembered.
const nodeMemory = 24 * time.Hour

// Beat implements alloc.Nodes.
func (s *Store) Beat(ctx context.Context, n alloc.Node) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	now, err := s.nowOn(ctx, s.free)
	if err != nil {
		return err
	}
	if _, err := s.exec(ctx, qBeat, n.ID, n.Addr, n.HTTPAddr, n.Version, startedMs(n, now), now); err != nil {
		return fmt.Errorf("recording heartbeat: %w", err)
	}
	if _, err := s.exec(ctx, qPrune, now-nodeMemory.Milliseconds()); err != nil {
		return fmt.Errorf("removing old nodes: %w", err)
	}
	return nil
}

// startedMs is when the node started, by a clock that says now. How long ago that was is right whatever this machine's
// clock says; the time itself may not be.
func startedMs(n alloc.Node, now int64) int64 {
	if n.Started.IsZero() {
		return now
	}
	return now - max(0, time.Since(n.Started).Milliseconds())
}

// Nodes implements alloc.Nodes.
func (s *Store) Nodes(ctx context.Context) ([]alloc.Node, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	now, err := s.nowOn(ctx, s.free)
	if err != nil {
		return nil, err
	}
	nodes, err := collect(ctx, s.stmts[qNodes], scanNode, now-nodeMemory.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("reading nodes: %w", err)
	}
	for i := range nodes {
		nodes[i].Live = now-nodes[i].Seen.UnixMilli() <= alloc.NodeTimeout.Milliseconds()
	}
	slices.SortFunc(nodes, liveFirst)
	return nodes, nil
}

func scanNode(r *sql.Rows) (n alloc.Node, err error) {
	var started, seen int64
	err = r.Scan(&n.ID, &n.Addr, &n.HTTPAddr, &n.Version, &started, &seen)
	n.Started, n.Seen = time.UnixMilli(started).UTC(), time.UnixMilli(seen).UTC()
	return n, err
}

func liveFirst(a, b alloc.Node) int {
	if a.Live != b.Live {
		if a.Live {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.ID, b.ID))
}

// Leave implements alloc.Nodes.
func (s *Store) Leave(ctx context.Context, id string) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if _, err := s.exec(ctx, qLeave, id); err != nil {
		return fmt.Errorf("removing heartbeat: %w", err)
	}
	return nil
}
