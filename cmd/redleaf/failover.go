package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"redleaf/alloc"
	"redleaf/alloc/sqlstore"
	"redleaf/snowflake"
)

// failoverFlags say what happens when another database server answers than before.
type failoverFlags struct {
	OnFailover   string        `default:"gap" placeholder:"trust|gap|stop" help:"When another database server answers than before: trust that it lost nothing; have live nodes agree and every tag skip a gap; or stop until redleaf recover is run (default: ${default})."`
	FailoverGap  int64         `default:"0" placeholder:"N" help:"Ids that every tag then skips (default: 2 x --max-step x nodes of the last hour)."`
	FailoverWait time.Duration `default:"15s" placeholder:"TIME" help:"How long that agreement waits for nodes that are silent (default: ${default})."`
}

func (f failoverFlags) check() error {
	if _, err := alloc.ParsePolicy(f.OnFailover); err != nil {
		return fmt.Errorf("--on-failover %w", err)
	}
	if f.FailoverGap < 0 || f.FailoverGap > 1<<53 {
		return fmt.Errorf("--failover-gap %d: want 1 to %d, or 0 for the default", f.FailoverGap, int64(1<<53))
	}
	return atLeast("--failover-wait", f.FailoverWait, 100*time.Millisecond)
}

func (f failoverFlags) policy() alloc.Policy {
	p, _ := alloc.ParsePolicy(f.OnFailover) // checked
	return p
}

func (c *serveCmd) gateConfig(log *slog.Logger) alloc.GateConfig {
	window := c.Window
	if c.WorkerID != nil {
		window = min(window, snowflake.FixedWindow)
	}
	return alloc.GateConfig{
		Policy: c.policy(), Gap: c.FailoverGap, MaxStep: c.MaxStep, Window: window, Wait: c.FailoverWait,
		StatementTimeout: c.StatementTimeout, Logger: log,
	}
}

// openGate waits for an agreement that is under way as long as for a database that does not answer, or until it is due.
func (c *serveCmd) openGate(ctx context.Context, gate *alloc.Gate, store *sqlstore.Store) error {
	ctx, cancel := context.WithTimeout(ctx, max(c.StoreTimeout, 2*c.FailoverWait))
	defer cancel()
	return gate.Open(ctx, store)
}

// guards returns the store as what leases from it sees it: changes pass the gate.
func (n *node) guards() (*alloc.Guard, *snowflake.Guard) {
	segments := alloc.NewGuard(n.store, n.store, n.gate)
	snowflakes := snowflake.NewGuard(n.store, n.gate)
	n.gate.OnRaise(func(ctx context.Context, server string) error {
		return n.store.RaiseWorkers(ctx, server, snowflakes.Held())
	})
	return segments, snowflakes
}
