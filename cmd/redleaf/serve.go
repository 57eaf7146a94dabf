package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"redleaf/server"
)

// Run serves until ctx is done, then stops in order.
func (c *serveCmd) Run(ctx context.Context, to *streams) error {
	if err := c.check(); err != nil {
		return err
	}
	log := c.logger(to)
	n, err := startNode(ctx, c, log)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return errors.Join(fmt.Errorf("--listen: %w; is another server there? choose another address", err), n.stop(context.Background()))
	}
	return c.serve(ctx, n, listener, log)
}

// serve answers on the listener until ctx is done or the listener fails.
func (c *serveCmd) serve(ctx context.Context, n *node, listener net.Listener, log *slog.Logger) error {
	n.join(cmp.Or(c.Advertise, listener.Addr().String()))
	srv, err := server.New(n.serverConfig(c))
	if err != nil {
		return errors.Join(err, listener.Close(), n.stop(context.Background()))
	}
	log.Info("serving", "addr", listener.Addr(), "store", n.store.Description(), "modes", c.Modes, "version", version())
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
		log.Info("stopping; a second signal exits at once")
	}
	return errors.Join(err, c.stop(srv, n, log))
}

// stop lets the server finish what it received, then gives back what the node leased. The server may use three quarters
// of the time, so that a client which does not read can't cost the node its give-back.
func (c *serveCmd) stop(srv *server.Server, n *node, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.ShutdownTimeout)
	defer cancel()
	draining, drained := context.WithTimeout(ctx, c.ShutdownTimeout*3/4)
	defer drained()
	if err := srv.Shutdown(draining); err != nil {
		log.Warn("closed connections that were still busy", "err", err)
	}
	return n.stop(ctx)
}
