package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"redleaf/alloc"
	"redleaf/alloc/sqlstore"
)

type recoverCmd struct {
	storeFlags
	Gap          int64         `required:"" placeholder:"N" help:"Ids that every tag skips: more than were leased of any tag since the write that is the last one kept. 0: nothing was lost, neither ids nor worker windows."`
	Window       time.Duration `default:"10m" placeholder:"TIME" help:"The longest --window of the nodes: that long, worker ids that no live node holds stay unused (default: ${default})."`
	FailoverWait time.Duration `default:"15s" placeholder:"TIME" help:"How long to wait for nodes that are silent (default: ${default})."`
}

// Run has the nodes agree on the server that answers, and ends when they have.
func (c *recoverCmd) Run(ctx context.Context, to *streams) error {
	err := errors.Join(c.check(), atLeast("--gap", time.Duration(c.Gap), 0), atLeast("--window", c.Window, minWindow),
		atLeast("--failover-wait", c.FailoverWait, 100*time.Millisecond))
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(to.err, nil))
	store, err := c.openAdmitting(ctx, sqlstore.Options{Logger: log, Recover: true})
	if err != nil {
		return err
	}
	gap := c.Gap
	if gap == 0 {
		gap = alloc.NoGap
	}
	done, err := alloc.Recover(ctx, store, alloc.GateConfig{
		Window: c.Window, Wait: c.FailoverWait, StatementTimeout: c.StatementTimeout, Logger: log,
	}, gap)
	if err = errors.Join(err, store.Close()); err != nil {
		return fmt.Errorf("recovering: %w", err)
	}
	fmt.Fprintf(to.out, "recovered: every tag skips %d ids; nodes lease from server %s again\n", c.Gap, done.Server)
	if until := time.UnixMilli(done.Spoken); until.After(time.Now()) {
		fmt.Fprintf(to.out, "worker ids that no live node holds are free again after %s; until then a node without one starts with --modes segment\n",
			until.UTC().Format(time.RFC3339))
	}
	return nil
}
