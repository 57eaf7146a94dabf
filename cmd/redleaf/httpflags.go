package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"redleaf/server"
	"redleaf/server/httpd"
)

// httpFlags say where HTTP is spoken.
type httpFlags struct {
	HTTPListen      string `name:"http-listen" default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address for HTTP: Leaf's paths, the dashboard, /metrics, /healthz, /readyz; empty: none (default: ${default})."`
	HTTPMaxClients  int    `name:"http-max-clients" default:"1000" placeholder:"N" help:"HTTP connections at a time (default: ${default})."`
	HTTPMetricsTags int    `name:"http-metrics-tags" default:"100" placeholder:"N" help:"Tags that have metrics of their own, the busiest; 0: none (default: ${default})."`
}

func (f httpFlags) check() error {
	if f.HTTPMetricsTags < 0 || f.HTTPMetricsTags > 10_000 {
		return fmt.Errorf("--http-metrics-tags %d: want 0 to 10000", f.HTTPMetricsTags)
	}
	return errors.Join(checkAddr("--http-listen", f.HTTPListen), upTo("--http-max-clients", int64(f.HTTPMaxClients), 1_000_000))
}

// openHTTP returns the listener, nil when none is wanted.
func (f httpFlags) openHTTP(ctx context.Context) (net.Listener, error) {
	if f.HTTPListen == "" {
		return nil, nil //nolint:nilnil // no such listener is wanted
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.HTTPListen)
	if err != nil {
		return nil, fmt.Errorf("--http-listen: %w", explainListen(err))
	}
	return l, nil
}

// web is a running HTTP server.
type web struct {
	*httpd.Server
	served chan error // what serving ended with
}

// startHTTP answers on the listener; without one it returns nil.
func (c *serveCmd) startHTTP(l net.Listener, n *node, srv *server.Server, log *slog.Logger) (*web, error) {
	if l == nil {
		return nil, nil //nolint:nilnil // no HTTP is wanted
	}
	config := httpd.Config{
		Redis: srv, Segments: n.segments, Snowflakes: n.snowflakes, Workers: n.store, Leases: n.leases,
		MaxBatch: c.MaxBatch, MaxConns: c.HTTPMaxClients, MaxTags: c.HTTPMetricsTags,
		NodeID: n.id, Version: version(), Logger: log,
	}
	config.Layout, _ = c.layout() // checked
	if c.HTTPMetricsTags == 0 {
		config.MaxTags = -1
	}
	s, err := httpd.New(config)
	if err != nil {
		return nil, fmt.Errorf("starting HTTP: %w", err)
	}
	w := &web{s, make(chan error, 1)}
	go func() { w.served <- s.Serve(l) }()
	log.Info("HTTP is served", "addr", l.Addr())
	return w, nil
}

// httpAddr is what other nodes are told: the port is HTTP's, and where it listens on every address, the host is the Redis
// port's.
func httpAddr(addr string, l net.Listener) string {
	if l == nil {
		return ""
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		if told, _, err := net.SplitHostPort(addr); err == nil {
			return net.JoinHostPort(told, port)
		}
	}
	return l.Addr().String()
}

// failed returns a channel that gets why serving ended by itself.
func (w *web) failed() <-chan error {
	if w == nil {
		return nil
	}
	return w.served
}

// drain makes /readyz say that the node is stopping.
func (w *web) drain() {
	if w != nil {
		w.Drain()
	}
}

// stop ends the requests under way, as long as ctx allows.
func (w *web) stop(ctx context.Context) error {
	if w == nil {
		return nil
	}
	if err := w.Shutdown(ctx); err != nil {
		return fmt.Errorf("closing HTTP: %w", err)
	}
	return nil
}
