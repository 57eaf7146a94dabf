package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"redleaf/alloc"
	"redleaf/alloc/sqlstore"
	"redleaf/server"
	"redleaf/server/httpd"
	"redleaf/snowflake"
)

// node is a running redleaf without its ports: the store and what draws from it.
type node struct {
	id         string
	addr       string
	log        *slog.Logger
	timeout    time.Duration // of one statement
	store      *sqlstore.Store
	gate       *alloc.Gate
	segments   *alloc.Allocator // nil: mode off
	snowflakes *snowflake.Node  // nil: mode off
	leases     *httpd.Leases

	beforeClose func(context.Context) error // what still needs the store

	endBeat context.CancelFunc
	beaten  chan struct{} // closed when heartbeats have ended; nil: there are none
}

// startNode opens the store and leases what serving needs from the start.
func startNode(ctx context.Context, c *serveCmd, log *slog.Logger) (*node, error) {
	gate := alloc.NewGate(c.gateConfig(log))
	store, err := c.openAdmitting(ctx, sqlstore.Options{
		Init: c.Init, Logger: log, Admit: gate.Admit, TrustServers: c.policy() == alloc.PolicyTrust,
	})
	if err != nil {
		return nil, err
	}
	n := &node{
		id: fmt.Sprintf("%016x", rand.Uint64()), log: log, timeout: c.StatementTimeout,
		store: store, gate: gate, leases: httpd.NewLeases(), endBeat: func() {},
		beforeClose: func(context.Context) error { return nil },
	}
	segments, snowflakes := n.guards()
	if err := c.openGate(ctx, gate, store); err != nil {
		return nil, errors.Join(fmt.Errorf("--store: %w", err), store.Close())
	}
	if c.serves("snowflake") {
		if n.snowflakes, err = snowflake.Start(ctx, snowflakes, c.snowflakeConfig(n.id, log)); err != nil {
			return nil, errors.Join(explain(err), store.Close())
		}
	}
	if c.serves("segment") {
		n.segments = alloc.New(alloc.Observed(segments, n.leases.Observe), c.allocConfig(log))
	}
	return n, nil
}

// explain names the flags that a failed start of snowflake mode has to do with.
func explain(err error) error {
	switch {
	case errors.Is(err, snowflake.ErrLayout):
		return fmt.Errorf("--epoch/--bits: %w; start with the store's layout, or use another store", err)
	case errors.Is(err, snowflake.ErrSkew):
		return fmt.Errorf("--max-skew: %w; set this machine's clock", err)
	case errors.Is(err, snowflake.ErrNoWorker):
		return fmt.Errorf("--worker-ids: %w; widen the range, or wait until windows of stopped nodes have passed", err)
	case errors.Is(err, snowflake.ErrExhausted):
		return fmt.Errorf("--epoch/--bits: %w; a later epoch or more bits of time need another store", err)
	}
	return fmt.Errorf("starting snowflake mode: %w", err)
}

func (c *serveCmd) allocConfig(log *slog.Logger) alloc.Config {
	return alloc.Config{
		AutoCreate: c.creates(), Step: c.Step, MaxStep: c.MaxStep, MaxTags: c.MaxTags, MaxBatch: c.MaxBatch,
		Wait: c.Wait, SegmentDuration: c.SegmentDuration, StatementTimeout: c.StatementTimeout, Logger: log,
		StrictWait: c.Cluster,
	}
}

func (c *serveCmd) snowflakeConfig(id string, log *slog.Logger) snowflake.Config {
	layout, _ := c.layout() // checked
	lo, hi, _ := c.workerIDs(layout)
	return snowflake.Config{
		Layout: layout, Workers: c.Workers, MinWorker: lo, Claimable: hi - lo + 1, Fixed: c.WorkerID != nil,
		Window: c.Window, MaxSkew: c.MaxSkew, Wait: c.Wait, StatementTimeout: c.StatementTimeout,
		Owner: id, Addr: cmp.Or(c.Advertise, c.Listen), Logger: log,
	}
}

func (n *node) serverConfig(c *serveCmd) server.Config {
	return server.Config{
		Segments: n.segments, Snowflakes: n.snowflakes, Nodes: n.store, StoreName: n.store.Description(),
		Password: c.Requirepass, Unprotected: !c.ProtectedMode, Cluster: c.Cluster, Sentinel: c.Sentinel, BareKeys: c.BareKeys, MaxBatch: c.MaxBatch,
		MaxClients: c.MaxClients, MaxRequest: c.MaxRequest, MaxOutput: c.MaxOutput, IdleTimeout: c.IdleTimeout, WriteTimeout: c.WriteTimeout,
		Advertise: n.addr, Version: version(), NodeID: n.id, Logger: n.log,
	}
}

// serveStrict takes part in serving strict tags at the address. A node without segments says that none of them will ever be
// drawn from there.
func (n *node) serveStrict(ctx context.Context, addr string) error {
	stricts := n.gate.Stricts(n.store)
	if n.segments == nil {
		return stricts.Confirm(ctx, n.id, addr, math.MaxInt64)
	}
	return n.segments.ServeStrict(ctx, stricts, n.id, addr)
}

// join begins to tell the other nodes that this one is there, after a delay: at addr, and on the listener for HTTP if there
// is one.
func (n *node) join(addr string, web net.Listener, delay time.Duration) {
	n.addr = addr
	ctx, cancel := context.WithCancel(context.Background())
	n.endBeat = cancel
	self := alloc.Node{ID: n.id, Addr: addr, HTTPAddr: httpAddr(addr, web), Version: version(), Started: time.Now()}
	n.beaten = make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { n.gate.Run(ctx, self) })
	work.Go(func() {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		alloc.Heartbeat(ctx, n.store, self, n.timeout, n.log)
	})
	go func() {
		defer close(n.beaten)
		work.Wait()
	}()
}

// leave ends the heartbeats and removes the last.
func (n *node) leave(ctx context.Context) {
	n.endBeat()
	if n.beaten == nil {
		return
	}
	select {
	case <-n.beaten:
	case <-ctx.Done(): // closing the store ends it
	}
}

// stop gives back and releases what was leased, as far as ctx allows, and closes the store.
func (n *node) stop(ctx context.Context) error {
	var errs []error
	if n.segments != nil {
		givenBack, err := n.segments.Close(ctx)
		n.log.Info("gave back unused ids", "ids", givenBack)
		errs = append(errs, err)
	} else {
		errs = append(errs, n.store.Withdraw(ctx, n.id))
	}
	if n.snowflakes != nil {
		errs = append(errs, n.snowflakes.Close(ctx))
	}
	n.leave(ctx)
	errs = append(errs, n.beforeClose(ctx), n.store.Close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	return nil
}
