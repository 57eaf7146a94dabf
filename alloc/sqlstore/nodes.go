package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"redleaf/alloc"
)

const (
	nodeMemory = 24 * time.Hour // for which a node that is gone is remembered
	// pruneEvery is how often the rows of others are removed. Looking for them at each heartbeat would have every node wait
	// for the rows of all others, which their heartbeats hold locked.
	pruneEvery = time.Hour
)

// Beat implements alloc.Nodes.
func (s *Store) Beat(ctx context.Context, n alloc.Node) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if _, err := s.exec(ctx, qBeat, s.beatArgs(n)...); err != nil {
		return fmt.Errorf("recording heartbeat: %w", err)
	}
	return s.prune(ctx)
}

// beatArgs are qBeat's. How long ago the node started is right whatever this machine's clock says; the time itself may
// not be.
func (s *Store) beatArgs(n alloc.Node) []any {
	var age int64
	if !n.Started.IsZero() {
		age = max(0, time.Since(n.Started).Milliseconds())
	}
	return []any{n.ID, n.Addr, n.HTTPAddr, n.Version, s.ownNow(), age, s.ownNow()}
}

// prune removes rows unseen for a day, if it has not done so for a while.
func (s *Store) prune(ctx context.Context) error {
	last := s.pruned.Load()
	if last != nil && time.Since(*last) < pruneEvery {
		return nil
	}
	for _, q := range []query{qPrune, qPruneStrict} {
		if _, err := s.exec(ctx, q, s.ownNow(), nodeMemory.Milliseconds()); err != nil {
			return fmt.Errorf("removing old nodes: %w", err)
		}
	}
	s.pruned.Store(new(time.Now()))
	return nil
}

// Nodes implements alloc.Nodes.
func (s *Store) Nodes(ctx context.Context) ([]alloc.Node, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	nodes, err := collect(ctx, s.stmts[qNodes], scanNode, s.ownNow(), s.ownNow(), nodeMemory.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("reading nodes: %w", err)
	}
	slices.SortFunc(nodes, liveFirst)
	return nodes, nil
}

func scanNode(r *sql.Rows) (n alloc.Node, err error) {
	var started, seen, now int64
	err = r.Scan(&n.ID, &n.Addr, &n.HTTPAddr, &n.Version, &started, &seen, &now)
	n.Live = now-seen <= alloc.NodeTimeout.Milliseconds()
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

// Digest implements alloc.Nodes.
func (s *Store) Digest(ctx context.Context) (string, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if s.file != nil { // its few nodes are on this machine
		nodes, err := s.Nodes(ctx)
		return digestOf(nodes), err
	}
	var rows, digest uint64
	err := s.stmts[qDigest].QueryRowContext(ctx, s.ownNow(), alloc.NodeTimeout.Milliseconds(), s.ownNow(), nodeMemory.Milliseconds()).Scan(&rows, &digest)
	if err != nil {
		return "", fmt.Errorf("reading the nodes' digest: %w", err)
	}
	return fmt.Sprintf("%d %08x", rows, digest), nil
}

func digestOf(nodes []alloc.Node) string {
	h := fnv.New64a()
	for _, n := range nodes {
		fmt.Fprintf(h, "%q %q %q %q %t\n", n.ID, n.Addr, n.HTTPAddr, n.Version, n.Live)
	}
	return fmt.Sprintf("%d %016x", len(nodes), h.Sum64())
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
