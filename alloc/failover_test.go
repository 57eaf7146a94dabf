package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redleaf/alloc"
)

// cluster is one address behind which one database server answers at a time; a failover makes it another, whose data lack
// the writes since the replication stopped.
type cluster struct {
	mu      sync.Mutex // protects what follows
	primary *alloc.MemServer
	replica *alloc.MemServer // as it was when replication stopped; nil: replication works
	servers int
	away    bool
}

func newCluster() *cluster { return &cluster{primary: alloc.NewMemServer("server 0")} }

func (c *cluster) stopReplication() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers++
	c.replica = c.primary.Replica(fmt.Sprint("server ", c.servers))
}

// restoreBackup puts the lagging data in the place of the primary's, under the same identity.
func (c *cluster) restoreBackup() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.primary.Restore(c.replica.MemStore)
}

func (c *cluster) failOver(outage time.Duration) {
	c.mu.Lock()
	c.away = true
	c.mu.Unlock()
	time.Sleep(outage)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.primary, c.away = c.replica, false
}

// server is where a statement that is sent now goes.
func (c *cluster) server() (*alloc.MemServer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return nil, errLost
	}
	return c.primary, nil
}

// link is a node's connections to the cluster: those for tags lead only to servers that the gate admits.
type link struct {
	alloc.Store // panics where a method is missing here
	c           *cluster
	admit       func(string) error
	ungated     bool // a mutation: connections to any server are used
	mu          sync.Mutex
	rng         *rand.Rand
	dead        bool
}

func (l *link) tags() (*shakyStore, error) {
	s, err := l.any()
	if err != nil {
		return nil, err
	}
	if err := l.admit(s.Identity()); err != nil && !l.ungated {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return &shakyStore{Store: s.MemStore, rng: rand.New(rand.NewPCG(l.rng.Uint64(), 3))}, nil
}

func (l *link) any() (*alloc.MemServer, error) {
	l.mu.Lock()
	dead := l.dead
	l.mu.Unlock()
	if dead {
		return nil, errLost
	}
	return l.c.server()
}

func (l *link) die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
}

func (l *link) Lease(ctx context.Context, tag string, n int64) (alloc.Range, error) {
	s, err := l.tags()
	if err != nil {
		return alloc.Range{}, err
	}
	return s.Lease(ctx, tag, n)
}

func (l *link) Lookup(ctx context.Context, tag string) (alloc.Row, error) {
	s, err := l.tags()
	if err != nil {
		return alloc.Row{}, err
	}
	return s.Lookup(ctx, tag)
}

func (l *link) List(ctx context.Context, after string, limit int) ([]alloc.Row, error) {
	s, err := l.tags()
	if err != nil {
		return nil, err
	}
	return s.List(ctx, after, limit)
}

func (l *link) Create(ctx context.Context, tag string, step, maxTags int64) error {
	s, err := l.tags()
	if err != nil {
		return err
	}
	return s.Create(ctx, tag, step, maxTags)
}

func (l *link) Advance(ctx context.Context, tag string, maxID, step int64) error {
	s, err := l.tags()
	if err != nil {
		return err
	}
	return s.Advance(ctx, tag, maxID, step)
}

func (l *link) Retire(ctx context.Context, tag string) error {
	s, err := l.tags()
	if err != nil {
		return err
	}
	return s.Retire(ctx, tag)
}

func (l *link) GiveBack(ctx context.Context, tag string, end, next int64) (bool, error) {
	s, err := l.tags()
	if err != nil {
		return false, err
	}
	return s.GiveBack(ctx, tag, end, next)
}

func (l *link) View(ctx context.Context, nodes bool) (alloc.View, error) {
	s, err := l.any()
	if err != nil {
		return alloc.View{}, err
	}
	return s.View(ctx, nodes)
}

func (l *link) on(f func(*alloc.MemServer) error) error {
	s, err := l.any()
	if err != nil {
		return err
	}
	return f(s)
}

func (l *link) PutRecord(ctx context.Context, server string, old, r alloc.Record) error {
	return l.on(func(s *alloc.MemServer) error { return s.PutRecord(ctx, server, old, r) })
}

func (l *link) Announce(ctx context.Context, server string, n alloc.Node, r alloc.Record, w time.Duration) error {
	return l.on(func(s *alloc.MemServer) error { return s.Announce(ctx, server, n, r, w) })
}

func (l *link) Skip(ctx context.Context, server string, open, done alloc.Record, gap int64, holders []string) error {
	return l.on(func(s *alloc.MemServer) error { return s.Skip(ctx, server, open, done, gap, holders) })
}

func (l *link) RaiseTags(ctx context.Context, server string, marks []alloc.Mark) error {
	return l.on(func(s *alloc.MemServer) error { return s.RaiseTags(ctx, server, marks) })
}

func (l *link) beat(ctx context.Context, id string) {
	for ctx.Err() == nil {
		if s, err := l.any(); err == nil {
			s.Beat(id)
		}
		time.Sleep(time.Second)
	}
}

// failoverNode is one node of a simulation.
type failoverNode struct {
	link  *link
	alloc *alloc.Allocator
	end   context.CancelFunc
	work  sync.WaitGroup
}

func startFailoverNode(s *simulation, c *cluster, id string, cfg alloc.GateConfig, ungated bool) (*failoverNode, error) {
	gate := alloc.NewGate(cfg)
	n := &failoverNode{link: &link{c: c, admit: gate.Admit, ungated: ungated, rng: rand.New(rand.NewPCG(s.rng.Uint64(), 5))}}
	guard := alloc.NewGuard(n.link, n.link, gate)
	starting, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := gate.Open(starting, n.link); err != nil {
		return nil, err
	}
	var ctx context.Context
	ctx, n.end = context.WithCancel(context.Background())
	n.work.Go(func() { gate.Run(ctx, alloc.Node{ID: id}) })
	n.work.Go(func() { n.link.beat(ctx, id) })
	var store alloc.Store = guard
	if ungated {
		store = n.link
	}
	n.alloc = alloc.New(store, alloc.Config{
		AutoCreate: true, Step: 1 + s.rng.Int64N(20), MaxStep: 64, MaxBatch: 100, StatementTimeout: 2 * time.Second,
	})
	return n, nil
}

// stop ends the node; crashed, it says goodbye to nobody.
func (n *failoverNode) stop(crash bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if crash {
		n.link.die()
		cancel()
	}
	n.alloc.Close(ctx)
	n.end()
	n.work.Wait()
}

// failoverCase is what a simulated failover has.
type failoverCase struct {
	gap     int64
	crash   bool // some nodes die with the primary
	restore bool // a backup is restored under the same identity
	ungated bool // a mutation
	admin   bool // SET and DEL take part
}

// playFailover plays one schedule: nodes under load, replication that stops, a failover, nodes that come back.
func playFailover(t *testing.T, seed uint64, f failoverCase) *simulation {
	s := newSimulation(t, seed, alloc.NewMemStore())
	s.admin = f.admin
	c := newCluster()
	policy := alloc.PolicyGap
	if f.ungated {
		policy = alloc.PolicyTrust
	}
	cfg := alloc.GateConfig{Policy: policy, Gap: f.gap, Wait: 15 * time.Second}
	var nodes []*failoverNode
	for i := range 2 + s.rng.IntN(2) {
		n, err := startFailoverNode(s, c, fmt.Sprint("node ", i), cfg, f.ungated)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	var clients sync.WaitGroup
	load := func() {
		for i, n := range nodes {
			for range 2 {
				rng := rand.New(rand.NewPCG(s.rng.Uint64(), 4))
				clients.Go(func() { s.client(n.alloc, fmt.Sprint("node ", i), rng) })
			}
		}
	}
	load()
	time.Sleep(time.Duration(s.rng.IntN(2000)) * time.Millisecond)
	c.stopReplication()
	time.Sleep(time.Duration(s.rng.IntN(4000)) * time.Millisecond)
	survivors := nodes
	if f.crash {
		dead := 1 + s.rng.IntN(len(nodes)-1)
		for _, n := range nodes[:dead] {
			n.stop(true)
		}
		survivors = nodes[dead:]
	}
	if f.restore {
		c.restoreBackup()
	} else {
		c.failOver(time.Duration(s.rng.IntN(3000)) * time.Millisecond)
	}
	clients.Wait()
	time.Sleep(40 * time.Second)
	if f.crash { // a new node starts after the agreement
		n, err := startFailoverNode(s, c, "newcomer", cfg, f.ungated)
		if err != nil {
			t.Fatal(err)
		}
		survivors = append(survivors, n)
	}
	nodes = survivors
	if !f.ungated {
		drawsAgain(t, s, survivors)
	}
	load()
	clients.Wait()
	for _, n := range survivors {
		n.stop(false)
	}
	time.Sleep(10 * time.Second)
	return s
}

// drawsAgain checks that every node leases again.
func drawsAgain(t *testing.T, s *simulation, nodes []*failoverNode) {
	for i, n := range nodes {
		for _, tag := range s.tags {
			var err error
			for range 20 {
				var first int64
				if first, err = n.alloc.Reserve(context.Background(), tag, 90); err == nil {
					s.books.issued(fmt.Sprint("survivor ", i), tag, first, 90)
					break
				}
			}
			if err != nil {
				t.Errorf("after the failover, survivor %d: %v", i, err)
			}
		}
	}
}

// lostTail is more than a simulation's nodes can have leased of a tag.
const lostTail = 100_000

// After a failover to a replica that lacks acknowledged writes nothing repeats: without any gap where all nodes live, and
// with one where some died with the primary.
func TestSimulationOfFailovers(t *testing.T) {
	for name, f := range map[string]failoverCase{
		"all nodes live": {gap: alloc.NoGap},
		"SET and DEL":    {gap: alloc.NoGap, admin: true},
		"nodes died":     {gap: lostTail, crash: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(simulations / 5) {
				synctest.Test(t, func(t *testing.T) { playFailover(t, seed, f).check(seed) })
				if t.Failed() {
					return
				}
			}
		})
	}
}

// The simulation can fail: without the gate, and without the gap where nodes died, ids repeat.
func TestSimulationOfFailoversNoticesMutations(t *testing.T) {
	for name, f := range map[string]failoverCase{
		"no gate": {ungated: true},
		"no gap":  {gap: alloc.NoGap, crash: true},
	} {
		t.Run(name, func(t *testing.T) {
			repeated := 0
			for seed := range uint64(100) {
				synctest.Test(t, func(t *testing.T) { repeated += len(playFailover(&testing.T{}, seed, f).books.bad) })
			}
			if repeated == 0 {
				t.Error("no schedule repeats an id: the simulation proves nothing")
			}
			t.Logf("%d repeated ids", repeated)
		})
	}
}

// A store that grants again what it granted, under the same identity, has the nodes agree as well, and leasing goes on.
func TestStoreWentBackwardsHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, 1, alloc.NewMemStore())
		c := newCluster()
		n, err := startFailoverNode(s, c, "node", alloc.GateConfig{Gap: 1000}, false)
		if err != nil {
			t.Fatal(err)
		}
		defer n.stop(false)
		c.stopReplication()
		first, err := reserveSoon(n.alloc, 50)
		if err != nil {
			t.Fatal(err)
		}
		c.restoreBackup()
		again, err := reserveSoon(n.alloc, 100)
		if err != nil || again < first+50 {
			t.Errorf("reserved from %d, then, with the store set back, from %d: %v", first, again, err)
		}
		if got := n.alloc.Totals().Backwards; got == 0 {
			t.Error("nobody noticed")
		}
	})
}

// reserveSoon reserves n ids within a minute.
func reserveSoon(a *alloc.Allocator, n int64) (first int64, err error) {
	for range 60 {
		if first, err = a.Reserve(context.Background(), "orders", n); err == nil {
			return first, nil
		}
		time.Sleep(time.Second)
	}
	return 0, err
}

// With the policy to stop, nothing is leased until the recovery is run; and it is run once for all nodes.
func TestStopsUntilRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, 1, alloc.NewMemStore())
		c := newCluster()
		n, err := startFailoverNode(s, c, "node", alloc.GateConfig{Policy: alloc.PolicyStop}, false)
		if err != nil {
			t.Fatal(err)
		}
		defer n.stop(false)
		c.stopReplication()
		first, err := reserveSoon(n.alloc, 50)
		if err != nil {
			t.Fatal(err)
		}
		c.failOver(time.Second)
		if _, err := reserveSoon(n.alloc, 99); !errors.Is(err, alloc.ErrStopped) {
			t.Errorf("after a failover: %v, want ErrStopped", err)
		}
		if _, err := startFailoverNode(s, c, "newcomer", alloc.GateConfig{}, false); err == nil {
			t.Error("a node that knows nothing of the old server started")
		}
		if _, err := alloc.Recover(t.Context(), n.link, alloc.GateConfig{}, 5000); err != nil {
			t.Fatal(err)
		}
		again, err := reserveSoon(n.alloc, 99)
		if err != nil || again < first+5000 {
			t.Errorf("reserved from %d, after the recovery with a gap of 5000 from %d: %v", first, again, err)
		}
		m, err := startFailoverNode(s, c, "newcomer", alloc.GateConfig{}, false)
		if err != nil {
			t.Fatal(err)
		}
		m.stop(false)
	})
}

// A server that lost its record gets a term above every one for which a node has raised the rows: of the old one that node
// would take the new agreement for done.
func TestRecoveryOutnumbersTheNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := alloc.NewMemServer("one")
		if err := s.Announce(t.Context(), "one", alloc.Node{ID: "node"}, alloc.Record{Server: "one", Term: 7}, time.Minute); err != nil {
			t.Fatal(err)
		}
		if r, err := alloc.Recover(t.Context(), s, alloc.GateConfig{}, 10); err != nil || r.Term != 8 {
			t.Errorf("recovered to %+v, %v; want term 8", r, err)
		}
	})
}
