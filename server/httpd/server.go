package httpd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds on what one connection may cost.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	maxForm       = 64 << 10
)

// Server answers HTTP clients. Its methods are safe for concurrent use.
type Server struct {
	cfg     Config
	http    *http.Server
	pages   pages
	sampler *sampler
	catalog catalog
	workers workerRows
	traffic *traffic
	started time.Time

	exposition http.Handler

	draining atomic.Bool
	conns    atomic.Int64
	work     sync.WaitGroup
	life     context.Context // of the sampler, and of reads for pages
	endLife  context.CancelFunc
}

// New returns a server; Serve makes it answer, and Shutdown ends it.
func New(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg.withDefaults(), started: time.Now(), traffic: newTraffic()}
	var err error
	if s.pages, err = parsePages(); err != nil {
		return nil, fmt.Errorf("reading the pages: %w", err)
	}
	s.sampler = newSampler(s.cfg)
	s.life, s.endLife = context.WithCancel(context.Background())
	s.work.Go(func() { s.sampler.run(s.life) })
	s.http = &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         s.count,
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Handler returns what answers the requests.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Serve answers connections of the listener until Shutdown, which closes it.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Drain makes /readyz say that the node is stopping, so that load balancers turn away. Everything is still answered.
func (s *Server) Drain() {
	s.draining.Store(true)
	s.http.SetKeepAlivesEnabled(false)
}

// Shutdown stops accepting and waits for the requests under way, as long as ctx allows; then it cuts them.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	s.endLife()
	s.work.Wait()
	return err
}

// count closes connections beyond the bound, so that they can't take the process's file descriptors from the Redis port.
func (s *Server) count(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if s.conns.Add(1) > int64(s.cfg.MaxConns) {
			s.traffic.refused.Inc()
			conn.Close() // StateClosed follows
		}
	case http.StateClosed, http.StateHijacked:
		s.conns.Add(-1)
	}
}
