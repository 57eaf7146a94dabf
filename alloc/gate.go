package alloc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// GateConfig configures a Gate. Zero values mean the defaults named.
type GateConfig struct {
	Policy           Policy        // PolicyGap
	Gap              int64         // ids that every tag skips; 2 x MaxStep x nodes seen in the last hour; NoGap: none
	MaxStep          int64         // 1,000,000
	Window           time.Duration // the longest worker window that this node writes; 10 min
	Wait             time.Duration // how long silent nodes are waited for; 15 s
	StatementTimeout time.Duration // deadline of one store call; 2 s
	Logger           *slog.Logger  // nowhere
}

func (c GateConfig) withDefaults() GateConfig {
	c.MaxStep = cmp.Or(c.MaxStep, 1_000_000)
	c.Window = cmp.Or(c.Window, 10*time.Minute)
	c.Wait = cmp.Or(c.Wait, 15*time.Second)
	c.StatementTimeout = cmp.Or(c.StatementTimeout, 2*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Gate lets nothing be leased from a database server that the nodes have not agreed on. What was leased before is served
// meanwhile. Its methods are safe for concurrent use.
type Gate struct {
	cfg    GateConfig
	store  Failovers
	raises []func(ctx context.Context, server string) error
	kick   chan struct{} // has the gate look at the server now

	suspect atomic.Bool // the server granted what it had granted before

	mu     sync.Mutex    // protects what follows
	why    error         // why nothing may be leased; nil: it may
	calls  int           // calls under way that lease
	idle   chan struct{} // closed when there is none; nil: nobody waits for that
	known  knowledge
	spoken int64
	self   Node
	joined bool // self is set
}

// NewGate returns a gate that is closed until Open.
func NewGate(cfg GateConfig) *Gate {
	return &Gate{cfg: cfg.withDefaults(), kick: make(chan struct{}, 1), why: fmt.Errorf("%w: starting", ErrAgreeing)}
}

// Admit reports whether a connection to the server may be used for what is gated. Before the first agreement any may.
func (g *Gate) Admit(server string) error {
	g.mu.Lock()
	agreed := g.known.server
	g.mu.Unlock()
	if agreed == "" || agreed == server || g.cfg.Policy == PolicyTrust {
		return nil
	}
	g.look()
	return g.closedBy(fmt.Sprintf("server %s answers instead of %s", server, agreed))
}

// closedBy is the error of calls while the gate is closed.
func (g *Gate) closedBy(reason string) error {
	if g.cfg.Policy == PolicyStop {
		return fmt.Errorf("%w: %s; run redleaf recover --gap N (--on-failover stop)", ErrStopped, reason)
	}
	return fmt.Errorf("%w: %s", ErrAgreeing, reason)
}

// Enter begins a call that leases or changes rows; Leave ends it. The error says why nothing may be leased.
func (g *Gate) Enter() error {
	if g.suspect.Load() {
		return g.closedBy("the store went backwards")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why == nil {
		g.calls++
	}
	return g.why
}

// Leave ends a call that Enter allowed.
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls--
	if g.calls == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// Suspect has the nodes agree because the server granted what it had granted before. It returns false where the policy
// is to trust the server. It may be called between Enter and Leave.
func (g *Gate) Suspect() bool {
	if g.cfg.Policy == PolicyTrust {
		return false
	}
	g.suspect.Store(true)
	g.look()
	return true
}

// Spoken returns up to which Unix millisecond worker ids without a row count as spoken for.
func (g *Gate) Spoken() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.spoken
}

// OnRaise adds a function that raises rows on the server to what this process knows. It is called while nothing is
// leased. All are added before Open.
func (g *Gate) OnRaise(f func(ctx context.Context, server string) error) {
	g.raises = append(g.raises, f)
}

// look has Run look at the server now.
func (g *Gate) look() {
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// close lets no more calls begin, and waits for those under way: each has its deadline.
func (g *Gate) close(reason string) {
	g.mu.Lock()
	first := g.why == nil
	g.why = g.closedBy(reason)
	if g.calls > 0 {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	g.mu.Unlock()
	if first {
		g.cfg.Logger.Warn("nothing is leased until the nodes have agreed; what is owned is served", "reason", reason)
	}
	if idle != nil {
		<-idle
	}
}

// open lets calls begin, on the server that the nodes agreed on.
func (g *Gate) open(server string, r Record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why != nil && g.known.server != "" {
		g.cfg.Logger.Warn("the nodes have agreed; leasing goes on", "server", server, "term", r.Term)
	}
	g.known.server, g.known.agreed = server, r.agreement()
	g.spoken = r.Spoken
	g.suspect.Store(false)
	g.why = nil
}

// knowledge returns what this node knows.
func (g *Gate) knowledge() knowledge {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.known
	k.suspect = g.suspect.Load()
	return k
}

var errNoAgreement = errors.New("the store's record names another database server, and no node is there that knows what " +
	"was leased from it: run redleaf recover --gap N, or start with --on-failover trust if no acknowledged write was lost")

// Open looks at the server and waits, until ctx is done, for an agreement under way. Errors: the store's, and where
// the recorded server is another and nobody begins an agreement, what to do.
func (g *Gate) Open(ctx context.Context, store Failovers) error {
	g.store = store
	for {
		m, v, err := g.step(ctx)
		if err == nil && g.opened() {
			return nil
		}
		if !sleep(ctx, min(beatEvery, g.cfg.Wait/6)) {
			switch {
			case err != nil:
				return fmt.Errorf("reading the failover record: %w", err)
			case m == moveOrphan:
				return fmt.Errorf("%w (recorded: %s, answering: %s)", errNoAgreement, v.Record.Server, v.Server)
			}
			return fmt.Errorf("%w: still after the time for the start", ErrAgreeing)
		}
	}
}

func (g *Gate) opened() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.why == nil
}

// Run watches the server, and takes part in agreements as the node self, until ctx is done.
func (g *Gate) Run(ctx context.Context, self Node) {
	g.mu.Lock()
	g.self, g.joined = self, true
	g.mu.Unlock()
	failing := false
	for {
		_, _, err := g.step(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			g.cfg.Logger.Warn("looking at the database server failed", "err", err)
		}
		failing = err != nil
		timer := time.NewTimer(min(beatEvery, g.cfg.Wait/6))
		select {
		case <-timer.C:
		case <-g.kick:
			timer.Stop()
			sleep(ctx, min(100*time.Millisecond, g.cfg.Wait/6)) // kicks come in swarms
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// step looks at the server once and makes the move that is due.
func (g *Gate) step(ctx context.Context) (move, View, error) {
	v, err := g.view(ctx, false)
	if err != nil {
		return 0, v, err
	}
	m := protocol{g.cfg.Policy, g.cfg.Wait}.next(g.knowledge(), v)
	err = g.make(ctx, m, v)
	if errors.Is(err, ErrRecordChanged) { // another node was quicker: the next step sees what it did
		err = nil
	}
	return m, v, err
}

// view reads what the server shows. The nodes matter to the protocol while an agreement is open, and else to no node: all
// look once a second.
func (g *Gate) view(ctx context.Context, nodes bool) (View, error) {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.StatementTimeout)
	defer cancel()
	return g.store.View(ctx, nodes)
}

// make makes a move.
func (g *Gate) make(ctx context.Context, m move, v View) error {
	r := v.Record
	switch m {
	case moveFirst, moveTrust:
		next := Record{Server: v.Server, Term: max(r.Term, g.knowledge().agreed.term) + 1, Began: v.Now, Spoken: r.Spoken}
		if err := g.put(ctx, v, next); err != nil {
			return err
		}
		if m == moveTrust {
			g.cfg.Logger.Warn("from now on every database server is trusted to have lost nothing", "before", r.Server)
		}
		g.open(v.Server, next)
	case moveBegin:
		g.close(why(g.knowledge(), v))
		return g.put(ctx, v, Record{
			Server: v.Server, Term: max(r.Term, g.knowledge().agreed.term) + 1, Open: true, Began: v.Now, Spoken: r.Spoken,
		})
	case moveRaise:
		g.close(why(g.knowledge(), v))
		return g.raise(ctx, v)
	case moveSkip:
		return g.skip(ctx, v)
	case moveAdopt:
		g.open(v.Server, r)
	case moveAwait, moveHalt:
		g.close(why(g.knowledge(), v))
	case moveServe, moveOrphan:
	}
	return nil
}

// why says why the gate is closed.
func why(k knowledge, v View) string {
	switch {
	case k.suspect:
		return "the store went backwards"
	case k.server != v.Server:
		return fmt.Sprintf("server %s answers instead of %s", v.Server, k.server)
	}
	return "an agreement was begun elsewhere"
}

func (g *Gate) put(ctx context.Context, v View, next Record) error {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.StatementTimeout)
	defer cancel()
	return g.store.PutRecord(ctx, v.Server, v.Record, next)
}

// raise raises the rows on the server to what this node knows, and says so to the others. The gate is closed and no call
// is under way: what this node knows is all that it was granted.
func (g *Gate) raise(ctx context.Context, v View) error {
	for _, raise := range g.raises {
		if err := raise(ctx, v.Server); err != nil {
			return fmt.Errorf("raising rows to what this node knows: %w", err)
		}
	}
	g.mu.Lock()
	self, joined := g.self, g.joined
	g.mu.Unlock()
	if joined {
		ctx, cancel := context.WithTimeout(ctx, g.cfg.StatementTimeout)
		defer cancel()
		if err := g.store.Announce(ctx, v.Server, self, v.Record, g.cfg.Window); err != nil {
			return fmt.Errorf("telling the other nodes: %w", err)
		}
	}
	g.mu.Lock()
	g.known.raised = v.Record.agreement()
	g.mu.Unlock()
	g.cfg.Logger.Info("rows raised to what this node knows", "term", v.Record.Term)
	return nil
}

// skip ends the agreement.
func (g *Gate) skip(ctx context.Context, v View) error {
	ctx, cancel := context.WithTimeout(ctx, 10*g.cfg.StatementTimeout) // it writes every row
	defer cancel()
	gap := gapOf(v, g.cfg.Gap, g.cfg.MaxStep)
	done := v.Record
	done.Open, done.Gap, done.Spoken = false, 0, spokenOf(v, g.cfg.Window)
	if err := g.store.Skip(ctx, v.Server, v.Record, done, gap, holdersOf(v)); err != nil {
		return fmt.Errorf("ending the agreement: %w", err)
	}
	g.cfg.Logger.Warn("every tag skips a gap, because acknowledged writes may have been lost", "gap", gap, "term", done.Term)
	return nil
}
