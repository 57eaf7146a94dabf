package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"redleaf/server"
)

// Run serves until ctx is done or a client sends SHUTDOWN, then stops in order.
func (c *serveCmd) Run(ctx context.Context, to *streams) error {
	if err := c.check(); err != nil {
		return err
	}
	acl, err := c.users()
	if err != nil {
		return err
	}
	log, level := c.logger(to)
	n, err := startNode(ctx, c, log)
	if err != nil {
		if ctx.Err() != nil {
			log.Info("stopped before it served", "err", err)
			return nil
		}
		return err
	}
	listeners, err := c.openListeners(ctx, log)
	if err != nil {
		return errors.Join(err, n.stop(context.Background()))
	}
	httpListener, err := c.openHTTP(ctx)
	if err != nil {
		closeAll(listeners)
		return errors.Join(err, n.stop(context.Background()))
	}
	addr := c.address(listeners, c.Store, log)
	if err := n.serveStrict(ctx, addr); err != nil {
		closeAll(append(listeners, httpListener))
		return errors.Join(fmt.Errorf("--store: %w", err), n.stop(context.Background()))
	}
	n.join(addr, httpListener, c.delay())
	ctx, shutdown := context.WithCancel(ctx)
	defer shutdown()
	config := n.serverConfig(c)
	config.ACL, config.LogLevel, config.OnShutdown = acl, level, shutdown
	srv, err := server.New(config)
	if err != nil {
		closeAll(append(listeners, httpListener))
		return errors.Join(fmt.Errorf("--acl-file: %w", err), n.stop(context.Background()))
	}
	w, err := c.startHTTP(httpListener, n, srv, log)
	if err != nil {
		closeAll(append(listeners, httpListener))
		return errors.Join(err, n.stop(context.Background()))
	}
	n.beforeClose = w.stop
	return c.serve(ctx, n, srv, w, listeners, log)
}

// users reads the ACL file.
func (c *serveCmd) users() (string, error) {
	if c.ACLFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(c.ACLFile)
	if err != nil {
		return "", fmt.Errorf("--acl-file: %w", err)
	}
	return string(text), nil
}

// serve answers on the listeners until ctx is done or one of them fails.
func (c *serveCmd) serve(ctx context.Context, n *node, srv *server.Server, w *web, listeners []net.Listener, log *slog.Logger) error {
	for _, l := range listeners {
		log.Info("serving", "addr", l.Addr(), "store", n.store.Description(), "modes", c.Modes, "version", version())
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- srv.Serve(l) }()
	}
	var err error
	select {
	case err = <-failed:
	case err = <-w.failed():
	case <-ctx.Done():
		log.Info("stopping; a second signal exits at once")
	}
	w.drain()
	return errors.Join(err, c.stop(srv, n, log))
}

// leave sends clients to other nodes. It may use half of the time.
func (c *serveCmd) leave(ctx context.Context, srv *server.Server, n *node) {
	ctx, cancel := context.WithTimeout(ctx, c.ShutdownTimeout/2)
	defer cancel()
	n.leave(ctx)
	srv.Leave(ctx)
}

// stop lets the server finish what it received, then gives back what the node leased. The server may use three quarters
// of the time, so that a client which does not read can't cost the node its give-back.
func (c *serveCmd) stop(srv *server.Server, n *node, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.ShutdownTimeout)
	defer cancel()
	if c.told() {
		c.leave(ctx, srv, n)
	}
	draining, drained := context.WithTimeout(ctx, c.ShutdownTimeout*3/4)
	defer drained()
	if err := srv.Shutdown(draining); err != nil {
		log.Warn("closed connections that were still busy", "err", err)
	}
	return n.stop(ctx)
}
