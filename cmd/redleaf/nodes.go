package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"redleaf/alloc"
	"redleaf/alloc/sqlstore"
	"redleaf/snowflake"
)

type nodesCmd struct {
	storeFlags
	Forget string `placeholder:"ID" help:"Forget a dead node, that has stopped for good and left no word: until then no tag can be made strict."`
}

// Run lists the nodes of the last day, with the worker ids they hold now, or forgets one.
func (c *nodesCmd) Run(ctx context.Context, to *streams) error {
	if err := c.check(); err != nil {
		return err
	}
	store, err := c.openStore(ctx, false, slog.New(slog.NewTextHandler(to.err, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	if c.Forget != "" {
		return errors.Join(forgetNode(ctx, store, c.Forget, to), store.Close())
	}
	return errors.Join(listNodes(ctx, store, to), store.Close())
}

func forgetNode(ctx context.Context, store *sqlstore.Store, id string, to *streams) error {
	nodes, err := store.Nodes(ctx)
	if err != nil {
		return fmt.Errorf("--forget: %w", err)
	}
	for _, n := range nodes {
		if n.ID == id && n.Live {
			return fmt.Errorf("--forget: node %s at %s lives: stop it", id, n.Addr)
		}
	}
	if err := errors.Join(store.Withdraw(ctx, id), store.Leave(ctx, id)); err != nil {
		return fmt.Errorf("--forget: %w", err)
	}
	fmt.Fprintln(to.out, "forgot node", id)
	return nil
}

func listNodes(ctx context.Context, store *sqlstore.Store, to *streams) error {
	nodes, err := store.Nodes(ctx)
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	held, err := heldWorkers(ctx, store)
	if err != nil {
		return fmt.Errorf("listing worker ids: %w", err)
	}
	return printNodes(to, nodes, held)
}

// heldWorkers returns the worker ids whose windows have not passed, and for how long they have not, by owner.
func heldWorkers(ctx context.Context, windows snowflake.Windows) (map[string][]string, error) {
	now, err := windows.Now(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := windows.Workers(ctx, 0, 1<<20)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b snowflake.Worker) int { return cmp.Compare(a.ID, b.ID) })
	held := map[string][]string{}
	for _, w := range rows {
		if left := time.Duration(w.Until-now) * time.Millisecond; left >= 0 {
			held[w.Owner] = append(held[w.Owner], fmt.Sprintf("%d (%v)", w.ID, left.Truncate(time.Second)))
		}
	}
	return held, nil
}

func printNodes(to *streams, nodes []alloc.Node, held map[string][]string) error {
	w := tabwriter.NewWriter(to.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tADDRESS\tSTATE\tWORKERS (WINDOW LEFT)\tVERSION\tSTARTED\tSEEN")
	for _, n := range nodes {
		state := "dead"
		if n.Live {
			state = "live"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", n.ID, n.Addr, state, joined(held[n.ID]), n.Version,
			n.Started.UTC().Format(time.DateTime), n.Seen.UTC().Format(time.DateTime))
	}
	return w.Flush()
}

func joined(workers []string) string {
	if len(workers) == 0 {
		return "-"
	}
	return strings.Join(workers, ", ")
}
