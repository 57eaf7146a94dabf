package server

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"redleaf/alloc"
)

const (
	watchEvery    = time.Second      // how often the heartbeats are looked at
	maxWatchPause = 4 * time.Second  // between two looks, while they fail
	rereadEvery   = 30 * time.Second // and read, though they seem not to have changed
	watchTimeout  = 2 * time.Second  // for one reading
	departTime    = 6 * time.Second  // for which a node that has left is still listed: until it has stopped
	newsAge       = 30 * time.Second // for how long after a change new connections may still come with the old map
)

// everMoving is the generation while this node leaves: no connection has seen it.
const everMoving = math.MaxUint64

// watch keeps the map of nodes up to date, from their heartbeats. Requests cost it nothing: a connection compares one
// number per pipeline.
type watch struct {
	current atomic.Pointer[topology] // nil: nobody watches

	generation atomic.Uint64 // of the map that clients should have; 0: clients have none
	known      atomic.Uint64 // the generation that new connections are taken to have seen
	redirects  atomic.Int64  // MOVED answers

	mu      sync.Mutex // protects everything below
	nodes   []alloc.Node
	digest  string    // of nodes, or of those just before; "" before the first reading
	read    time.Time // when nodes were read
	leaving bool
	changed time.Time            // when the map changed
	left    map[peer]time.Time   // when nodes left, those of the last moments
	away    bool                 // the last reading failed
	failed  time.Time            // when the store was away last
	told    map[string]time.Time // when clients of a host were sent to where they were, since the map changed
}

// watching reports whether the server has a map of nodes to keep.
func (s *Server) watching() bool {
	return s.cfg.Nodes != nil && (s.cfg.Cluster || s.cfg.Sentinel != "")
}

// startWatch reads the map once, and then until the server's life ends.
func (s *Server) startWatch() {
	if !s.watching() {
		return
	}
	s.watch.update(s, nil, "") // itself at least, if the store does not answer
	s.readNodes(sharedTimeout)
	s.watch.known.Store(s.watch.generation.Load()) // nobody has an older map of this node
	s.sampling.Go(func() {
		failures := 0
		for s.sleepOn(watchPause(failures)) {
			failures++
			if s.readNodes(watchTimeout) {
				failures = 0
			}
		}
	})
}

// watchPause returns how long to wait after so many failures in a row. A store that can't keep up with its nodes is asked
// less, and not by all at once: else it never would again.
func watchPause(failures int) time.Duration {
	if failures == 0 {
		return watchEvery
	}
	d := min(watchEvery<<min(failures, 10), maxWatchPause)
	return d/2 + rand.N(d/2)
}

// sleepOn waits and reports whether the server lives.
func (s *Server) sleepOn(d time.Duration) bool {
	s.pause(d)
	return s.life.Err() == nil
}

// readNodes reports whether the store has answered.
func (s *Server) readNodes(timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(s.life, timeout)
	defer cancel()
	digest, err := s.cfg.Nodes.Digest(ctx)
	if err == nil {
		s.watch.answered(true)
	}
	if err == nil && s.watch.unchanged(s, digest) {
		return true
	}
	var nodes []alloc.Node
	if err == nil {
		nodes, err = s.cfg.Nodes.Nodes(ctx)
	}
	if err != nil {
		s.watch.answered(false)
		return false // the last map stays good: every node serves every key
	}
	s.watch.update(s, nodes, digest)
	return true
}

// answered takes note of whether the store does.
func (w *watch) answered(yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away || !yes {
		w.failed = time.Now()
	}
	w.away = !yes
}

// unchanged reports whether the nodes are those that are known, which were read not long ago. What is due by time alone
// is done.
func (w *watch) unchanged(s *Server, digest string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if digest != w.digest || time.Since(w.read) > rereadEvery {
		return false
	}
	w.remake(s)
	return true
}

// update makes the map of these nodes, if it is another than the current one. The digest was read before them.
func (w *watch) update(s *Server, nodes []alloc.Node, digest string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes, w.digest, w.read = nodes, digest, time.Now()
	w.remake(s)
}

// remake is called with mu held.
func (w *watch) remake(s *Server) {
	old := w.current.Load()
	peers := sortedPeers(w.nodes, s.cfg.Advertise, w.leaving)
	if old != nil && time.Since(w.failed) < alloc.NodeTimeout+watchEvery && !w.leaving {
		// The store was away, for others too: until they had time to be seen again, nobody is dead.
		peers = merge(peers, old.peers)
	}
	departing := w.departures(old, peers, s.cfg.Advertise)
	switch {
	case old == nil || !slices.Equal(old.peers, peers):
		t := newTopology(peers, s.cfg.Advertise, old)
		if old != nil && w.died(old, t) {
			t.lost = t.generation
		}
		t.departing = departing
		w.publish(s, t)
	case !slices.Equal(old.departing, departing):
		t := *old
		t.departing = departing
		w.current.Store(&t)
	case time.Since(w.changed) > newsAge:
		w.known.Store(old.generation)
	}
}

// departures lists the nodes that have left in the last moments. They stay in the map as replicas without slots, since some
// clients close their connections to a node that is not there any more, and fail what was under way. It is called with
// mu held.
func (w *watch) departures(old *topology, now []peer, self string) (departing []peer) {
	if w.left == nil {
		w.left = map[peer]time.Time{}
	}
	if old != nil {
		for _, p := range old.peers {
			if gone := !w.hasRow(p) || w.leaving && p.addr == self; gone && !slices.Contains(now, p) {
				w.left[p] = time.Now()
			}
		}
	}
	for p, at := range w.left {
		if slices.Contains(now, p) || time.Since(at) > departTime {
			delete(w.left, p)
		} else if len(now) > 0 {
			departing = append(departing, p)
		}
	}
	slices.SortFunc(departing, func(a, b peer) int { return cmp.Compare(a.addr, b.addr) })
	return departing
}

// hasRow reports whether a heartbeat of the node is there, however old. It is called with mu held.
func (w *watch) hasRow(p peer) bool {
	return slices.ContainsFunc(w.nodes, func(n alloc.Node) bool { return n.Addr == p.addr })
}

// died reports whether a node went without having left: its last heartbeat is still there. It is called with mu held.
func (w *watch) died(old, now *topology) bool {
	return slices.ContainsFunc(old.peers, func(p peer) bool {
		return !slices.Contains(now.peers, p) && w.hasRow(p)
	})
}

// publish is called with mu held.
func (w *watch) publish(s *Server, t *topology) {
	w.changed, w.told = time.Now(), map[string]time.Time{}
	w.current.Store(t)
	if s.cfg.Cluster && !w.leaving {
		w.generation.Store(t.generation)
		s.yieldStrict(t, false)
	}
	s.cfg.Logger.Info("nodes changed", "live", len(t.peers))
}

// leave takes this node out of the map. It reports whether there are others.
func (w *watch) leave(s *Server) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaving = true
	if w.current.Load() == nil {
		return false
	}
	w.remake(s)
	return len(w.current.Load().peers) > 0
}
