package server

import (
	"maps"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"redleaf/alloc"
)

// Metrics are the sums that a monitoring system wants, since the start or since CONFIG RESETSTAT.
type Metrics struct {
	Connected, MaxClients   int64
	Connections, Rejected   int64 // accepted, and turned away
	Commands                int64
	BytesIn, BytesOut       int64
	Panics                  int64
	ByCommand               []CommandMetrics // those that were called or refused, by name
	Errors                  map[string]int64 // error replies by their first word
	LargeRequestsAndReplies int64            // bytes held for them now
	Depths                  []int64          // pipelines of at most 1, 2, 4 ... commands; not cumulative; longer ones last
}

// CommandMetrics are the sums of one command.
type CommandMetrics struct {
	Name     string
	Calls    int64
	Rejected int64 // refused before it ran
	Failed   int64 // ran, and replied with an error
	Total    time.Duration
	AtMost   []time.Duration // upper bounds of the buckets of Took
	Took     []int64         // calls by the time they took; not cumulative
}

// Metrics returns a snapshot.
func (s *Server) Metrics() Metrics {
	st := &s.stats
	m := Metrics{
		Connected: int64(s.connected()), MaxClients: s.maxClients.Load(),
		Connections: st.connections.Load(), Rejected: st.rejected.Load(),
		Commands: st.commands.Load(), BytesIn: st.bytesIn.Load(), BytesOut: st.bytesOut.Load(), Panics: st.panics.Load(),
		Errors: st.errors.snapshot(), LargeRequestsAndReplies: s.memory.used.Load(), Depths: st.depth.snapshot(),
	}
	for _, name := range slices.Sorted(maps.Keys(s.commands)) {
		if c := &st.byCommand[s.commands[name].index]; c.calls.Load()+c.rejected.Load() > 0 {
			m.ByCommand = append(m.ByCommand, c.metrics(name))
		}
	}
	return m
}

func (s *commandStats) metrics(name string) CommandMetrics {
	m := CommandMetrics{
		Name: name, Calls: s.calls.Load(), Rejected: s.rejected.Load(), Failed: s.failed.Load(),
		Total: time.Duration(s.nanos.Load()),
	}
	m.AtMost, m.Took = make([]time.Duration, latencyBuckets), make([]int64, latencyBuckets)
	for i := range s.latency {
		m.AtMost[i], m.Took[i] = time.Microsecond<<i, s.latency[i].Load()
	}
	return m
}

func (e *errorStats) snapshot() map[string]int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.counts)
}

// Store is what INFO tells of the store, at most a second old.
type Store struct {
	Name  string
	Tags  int64
	Nodes []alloc.Node
	Err   error // why the store could not be read
}

// Store returns the state of the store. It waits for the store for half a second at most.
func (s *Server) Store() Store {
	now := s.snapshot()
	return Store{Name: s.cfg.StoreName, Tags: now.tags, Nodes: now.nodes, Err: now.err}
}

// depthBuckets is how many powers of two of a pipeline's depth are told apart.
const depthBuckets = 16

// depths counts pipelines by how many commands came at a time. Safe for concurrent use.
type depths [depthBuckets]atomic.Int64

func (d *depths) add(commands int64) {
	d[min(depthBuckets-1, bits.Len64(uint64(commands-1)))].Add(1)
}

func (d *depths) reset() {
	for i := range d {
		d[i].Store(0)
	}
}

func (d *depths) snapshot() []int64 {
	all := make([]int64, depthBuckets)
	for i := range d {
		all[i] = d[i].Load()
	}
	return all
}
