package server

import (
	"context"
	"sync"
	"time"

	"redleaf/alloc"
)

const (
	sharedAge     = time.Second            // how long what INFO says of the store is good for
	sharedTimeout = 500 * time.Millisecond // how long INFO may wait for the store
)

// sharedState is what INFO tells of the store, read at most once a second: clients send INFO when they connect, and a
// slow store must not make that slow.
type sharedState struct {
	reading sync.Mutex // held by the one who reads; the others take what is there

	mu    sync.Mutex // protects everything below
	at    time.Time
	tags  int64
	nodes []alloc.Node
	err   error
}

// snapshot is a copy of the shared state.
type snapshot struct {
	tags  int64
	nodes []alloc.Node
	err   error
}

func (s *Server) snapshot() snapshot {
	st := &s.shared
	st.mu.Lock()
	old := time.Since(st.at) > sharedAge
	st.mu.Unlock()
	if old && st.reading.TryLock() {
		s.readShared()
		st.reading.Unlock()
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	return snapshot{st.tags, st.nodes, st.err}
}

func (s *Server) readShared() {
	ctx, cancel := context.WithTimeout(s.life, sharedTimeout)
	defer cancel()
	var now snapshot
	if s.cfg.Segments != nil {
		now.tags, now.err = s.cfg.Segments.Count(ctx)
	}
	if s.cfg.Nodes != nil && now.err == nil {
		now.nodes, now.err = s.cfg.Nodes.Nodes(ctx)
	}
	st := &s.shared
	st.mu.Lock()
	defer st.mu.Unlock()
	st.at, st.err = time.Now(), now.err
	if now.err == nil {
		st.tags, st.nodes = now.tags, now.nodes
	}
}
