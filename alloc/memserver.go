package alloc

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// MemServer is a database server in memory: a MemStore through which nodes can agree. It implements Failovers and Raiser
// for tests, and as the plainest statement of what they do.
type MemServer struct {
	*MemStore
	identity string
	now      func() time.Time

	mu     sync.Mutex // protects what follows
	record Record
	nodes  map[string]Member
}

// NewMemServer returns an empty server of the identity.
func NewMemServer(identity string) *MemServer {
	return &MemServer{MemStore: NewMemStore(), identity: identity, now: time.Now, nodes: map[string]Member{}}
}

// Identity returns the server's identity.
func (s *MemServer) Identity() string { return s.identity }

// Replica returns a server with a copy of the data, as one that nothing was replicated to since.
func (s *MemServer) Replica(identity string) *MemServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := NewMemServer(identity)
	r.MemStore, r.record = s.Snapshot(), s.record
	maps.Copy(r.nodes, s.nodes)
	return r
}

// View implements Failovers.
func (s *MemServer) View(ctx context.Context, nodes bool) (View, error) {
	if err := ctx.Err(); err != nil {
		return View{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := View{Server: s.identity, Now: s.now().UnixMilli(), Record: s.record}
	if nodes || s.record.Open {
		v.Nodes = slices.Collect(maps.Values(s.nodes))
	}
	return v, nil
}

// locked runs f under the lock if the server is the one meant and has the record.
func (s *MemServer) locked(ctx context.Context, server string, has *Record, f func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if server != s.identity || has != nil && *has != s.record {
		return ErrRecordChanged
	}
	f()
	return nil
}

// PutRecord implements Failovers.
func (s *MemServer) PutRecord(ctx context.Context, server string, old, record Record) error {
	return s.locked(ctx, server, &old, func() { s.record = record })
}

// Announce implements Failovers.
func (s *MemServer) Announce(ctx context.Context, server string, n Node, r Record, window time.Duration) error {
	return s.locked(ctx, server, nil, func() {
		s.nodes[n.ID] = Member{ID: n.ID, Seen: s.now().UnixMilli(), Term: r.Term, Server: r.Server, Window: window.Milliseconds()}
	})
}

// Beat records that the node lives.
func (s *MemServer) Beat(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[id]
	n.ID, n.Seen = id, s.now().UnixMilli()
	s.nodes[id] = n
}

// Skip implements Failovers. It has no worker rows.
func (s *MemServer) Skip(ctx context.Context, server string, open, done Record, gap int64, _ []string) error {
	return s.locked(ctx, server, &open, func() {
		s.record = done
		s.skip(gap)
	})
}

func (m *MemStore) skip(gap int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for tag, row := range m.data.rows {
		row.MaxID = skipped(row.MaxID, gap)
		m.data.rows[tag] = row
	}
	for tag, end := range m.data.retired {
		m.data.retired[tag] = skipped(end, gap)
	}
	m.data.first = skipped(max(1, m.data.first), gap)
}

// skipped moves a number up by the gap, or to the end of numbers.
func skipped(n, gap int64) int64 {
	if n > math.MaxInt64-gap {
		return math.MaxInt64
	}
	return n + gap
}

// RaiseTags implements Raiser.
func (s *MemServer) RaiseTags(ctx context.Context, server string, marks []Mark) error {
	return s.locked(ctx, server, nil, func() {
		for _, m := range marks {
			s.raise(m)
		}
	})
}

func (m *MemStore) raise(mark Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.data.rows[mark.Tag]
	_, retired := m.data.retired[mark.Tag]
	switch {
	case ok:
		row.MaxID = max(row.MaxID, mark.End)
		m.data.rows[mark.Tag] = row
	case mark.Gone || retired:
		m.data.retired[mark.Tag] = max(m.data.retired[mark.Tag], mark.End)
	default:
		m.insert(mark.Tag, max(m.data.start(mark.Tag), mark.End), max(1, mark.Step))
	}
}
