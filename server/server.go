package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// ErrServerClosed is what Serve returns after Shutdown.
var ErrServerClosed = errors.New("server closed")

// Defaults of settings that CONFIG SET changes, as in Redis.
const (
	slowlogThreshold = 10 * time.Millisecond
	slowlogEntries   = 128
)

// Server answers Redis clients. Its methods are safe for concurrent use.
type Server struct {
	cfg      Config
	commands map[string]*command
	users    map[string]*user
	memory   budget
	cursors  cursors
	shared   sharedState
	started  time.Time
	stats    stats
	slow     slowlog
	latency  latency
	watch    watch
	rested   rested

	maxClients atomic.Int64
	peakMemory atomic.Uint64

	attackLogged atomic.Int64 // Unix seconds of the last warning of an HTTP request
	idle         atomic.Int64 // nanoseconds; 0: connections may be idle for ever

	life     context.Context // ends when connections are cut
	endLife  context.CancelFunc
	vain     context.Context // has ended: for calls of a pipeline after one has waited in vain
	draining atomic.Bool
	serving  sync.WaitGroup // connections
	sampling sync.WaitGroup

	mu        sync.Mutex // protects everything below
	listeners []net.Listener
	clients   map[*client]struct{}
	lastID    int64
}

// New returns a server; Serve makes it answer, and Shutdown ends it. It fails for an ACL that can't be read.
func New(cfg Config) (*Server, error) {
	if cfg.Segments == nil && cfg.Snowflakes == nil {
		return nil, errors.New("server: neither segments nor snowflakes to serve")
	}
	s := &Server{cfg: cfg.withDefaults(), commands: commandTable(), started: time.Now(), clients: map[*client]struct{}{}}
	if s.cfg.Sentinel == "" {
		delete(s.commands, "sentinel")
	}
	var err error
	if s.users, err = newUsers(s.commands, s.cfg.ACL, s.cfg.Password); err != nil {
		return nil, fmt.Errorf("reading users: %w", err)
	}
	s.stats.byCommand = make([]commandStats, len(s.commands))
	s.memory.limit = s.cfg.MaxMemory
	s.maxClients.Store(int64(s.cfg.MaxClients))
	s.idle.Store(int64(s.cfg.IdleTimeout))
	s.slow.threshold.Store(int64(slowlogThreshold))
	s.slow.limit.Store(slowlogEntries)
	s.life, s.endLife = context.WithCancel(context.Background())
	vain, end := context.WithCancel(context.Background())
	end()
	s.vain = vain
	s.sampling.Go(s.sample)
	s.startWatch()
	return s, nil
}

// firstUser is who a new connection is before AUTH; nil: nobody.
func (s *Server) firstUser() *user {
	if u := s.users["default"]; u.on && u.nopass {
		return u
	}
	return nil
}

// admit serves a new connection, or tells it why not.
func (s *Server) admit(conn net.Conn) {
	s.stats.connections.Add(1)
	if refusal := s.refuses(conn); refusal != "" {
		s.stats.rejected.Add(1)
		s.serving.Go(func() { turnAway(conn, refusal) })
		return
	}
	s.mu.Lock()
	s.lastID++
	c := newClient(s, conn, s.lastID)
	s.clients[c] = struct{}{}
	s.mu.Unlock()
	s.serving.Go(c.serve)
}

// refuses returns the error that a new connection gets at once, if any.
func (s *Server) refuses(conn net.Conn) string {
	switch {
	case int64(s.connected()) >= s.maxClients.Load():
		return "ERR max number of clients reached"
	case s.firstUser() != nil && !s.cfg.Unprotected && !isLocal(conn):
		return protectedModeError
	}
	return ""
}

// turnAway sends the error and closes the connection.
func turnAway(conn net.Conn, refusal string) {
	conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = conn.Write([]byte("-" + refusal + "\r\n")) // it is closed in either case
	linger(conn)
}

// isLocal reports whether a connection comes from this machine: over the loopback interface, or not over TCP at all.
func isLocal(conn net.Conn) bool {
	addr, ok := conn.RemoteAddr().(*net.TCPAddr)
	return !ok || addr.IP.IsLoopback()
}

func (s *Server) forget(c *client) {
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
}

// connected returns how many clients are connected.
func (s *Server) connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients)
}
