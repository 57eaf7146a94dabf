package snowflake

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a Node. Zero values mean the defaults named.
type Config struct {
	Layout           Layout        // DefaultLayout
	Workers          int           // worker ids to lease; 1
	MinWorker        int           // smallest worker id to claim
	Claimable        int           // how many worker ids it may claim, from MinWorker up; all that the layout has
	Fixed            bool          // claim MinWorker and no other, and wait for it
	Window           time.Duration // length of a worker window; 10 min
	MaxSkew          time.Duration // how far this machine's clock may be from the database's; 5 s
	Wait             time.Duration // how long a call may wait without getting an id; 1 s
	StatementTimeout time.Duration // deadline of one store call; 2 s
	Owner, Addr      string        // written to the rows, for people
	Clock            Clock         // this machine's
	Logger           *slog.Logger  // nowhere
}

func (c Config) withDefaults() Config {
	if c.Layout == (Layout{}) {
		c.Layout = DefaultLayout()
	}
	c.Workers = cmp.Or(c.Workers, 1)
	if c.Fixed {
		c.Claimable, c.Workers = 1, 1
	}
	c.Claimable = cmp.Or(c.Claimable, c.Layout.MaxWorker()+1-c.MinWorker)
	c.Window = cmp.Or(c.Window, 10*time.Minute)
	c.MaxSkew = cmp.Or(c.MaxSkew, 5*time.Second)
	c.Wait = cmp.Or(c.Wait, time.Second)
	c.StatementTimeout = cmp.Or(c.StatementTimeout, 2*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) timekeeper() *timekeeper {
	if c.Clock != nil {
		return newTimekeeper(c.Clock, c.MaxSkew)
	}
	both, mono := systemClocks()
	k := newTimekeeper(both, c.MaxSkew)
	k.mono = mono
	return k
}

// claimable returns the bounds of the worker ids that may be claimed, inclusive.
func (c Config) claimable() (lo, hi int) { return c.MinWorker, c.MinWorker + c.Claimable - 1 }

// Node draws ids from the worker windows that it leases and keeps extended. Its methods are safe for concurrent use.
type Node struct {
	cfg    Config
	store  Windows
	keeper *keeper
	wait   atomic.Int64 // nanoseconds: how long a call may wait; Config.Wait at first

	mu      sync.Mutex // protects everything below
	gen     generator
	time    *timekeeper
	closed  bool
	changed chan struct{} // closed, and replaced, when calls that wait should look again
	issued  int64
	state   keeperState
}

// keeperState is what the keeper tells about itself.
type keeperState struct {
	claims, extends, lost, skewed int64
	err                           error // why the last claim or extension failed
}

// Start records or checks the layout, compares clocks, claims the worker ids and returns a running node; Close ends it.
// It waits, with Config.Fixed, until the worker id's last window has passed. Errors: ErrLayout, ErrSkew, ErrNoWorker,
// ErrExhausted, and the store's.
func Start(ctx context.Context, w Windows, cfg Config) (*Node, error) {
	cfg = cfg.withDefaults()
	n := &Node{
		cfg: cfg, store: w, time: cfg.timekeeper(), changed: make(chan struct{}),
		gen: generator{layout: cfg.Layout, random: rand.Int64N},
	}
	n.wait.Store(int64(cfg.Wait))
	n.keeper = newKeeper(n)
	if err := n.keeper.start(ctx); err != nil {
		return nil, err
	}
	return n, nil
}

// Layout returns the node's layout.
func (n *Node) Layout() Layout { return n.cfg.Layout }

// Wait returns how long a call may wait without getting an id.
func (n *Node) Wait() time.Duration { return time.Duration(n.wait.Load()) }

// SetWait changes Config.Wait for calls that begin from now on.
func (n *Node) SetWait(d time.Duration) { n.wait.Store(int64(d)) }

// PerSecond returns how many ids the node can draw in a second.
func (n *Node) PerSecond() int64 {
	return (n.cfg.Layout.MaxSequence() + 1) * int64(n.cfg.Workers) * 1000
}

// Take draws up to most ids (1 or more) without waiting and returns the first and how many: they are consecutive. It
// returns 0 when none can be had now; Draw then waits or says why. It does not allocate.
func (n *Node) Take(most int64) (first, got int64) {
	n.mu.Lock()
	now, steppedBack := n.time.now()
	if !n.closed {
		first, got = n.gen.take(now, most)
		n.issued += got
	}
	n.mu.Unlock()
	if steppedBack != 0 {
		n.keeper.noteStep(steppedBack)
	}
	return first, got
}

// now returns the node's time in Unix milliseconds.
func (n *Node) now() int64 {
	n.mu.Lock()
	ms, steppedBack := n.time.now()
	n.mu.Unlock()
	if steppedBack != 0 {
		n.keeper.noteStep(steppedBack)
	}
	return ms
}

// change runs f under the lock and lets calls that wait look again.
func (n *Node) change(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
	close(n.changed)
	n.changed = make(chan struct{})
}
