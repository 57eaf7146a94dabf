package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// ErrServerClosed is what Serve returns after Shutdown.
var ErrServerClosed = errors.New("server closed")

// Pauses of the accept loop while connections can't be accepted, for want of file descriptors say.
const (
	minAcceptPause = 5 * time.Millisecond
	maxAcceptPause = time.Second
)

// Server answers Redis clients. Its methods are safe for concurrent use.
type Server struct {
	cfg      Config
	commands map[string]*command
	password [sha256.Size]byte
	memory   budget
	cursors  cursors
	shared   sharedState
	started  time.Time
	stats    stats

	life     context.Context // ends when connections are cut
	endLife  context.CancelFunc
	vain     context.Context // has ended: for calls of a pipeline after one has waited in vain
	draining atomic.Bool
	serving  sync.WaitGroup // connections

	mu       sync.Mutex // protects everything below
	listener net.Listener
	clients  map[*client]struct{}
	lastID   int64
}

// stats are sums since the start.
type stats struct {
	connections, rejected, commands, bytesIn, bytesOut, panics atomic.Int64
}

// New returns a server; Serve makes it answer.
func New(cfg Config) (*Server, error) {
	if cfg.Segments == nil && cfg.Snowflakes == nil {
		return nil, errors.New("server: neither segments nor snowflakes to serve")
	}
	s := &Server{
		cfg: cfg.withDefaults(), commands: commandTable(), password: sha256.Sum256([]byte(cfg.Password)),
		started: time.Now(), clients: map[*client]struct{}{},
	}
	s.memory.limit = s.cfg.MaxMemory
	s.life, s.endLife = context.WithCancel(context.Background())
	vain, end := context.WithCancel(context.Background())
	end()
	s.vain = vain
	return s, nil
}

// Serve answers connections of the listener until Shutdown, which closes it. It is called once.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	s.listener = l
	s.mu.Unlock()
	if s.draining.Load() {
		l.Close()
		return ErrServerClosed
	}
	pause := minAcceptPause
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = minAcceptPause
			s.admit(conn)
		case s.draining.Load():
			return ErrServerClosed
		case errors.Is(err, net.ErrClosed):
			return err
		default:
			s.cfg.Logger.Warn("accepting a connection failed", "err", err, "pause", pause)
			time.Sleep(pause)
			pause = min(2*pause, maxAcceptPause)
		}
	}
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
	s.mu.Lock()
	full := len(s.clients) >= s.cfg.MaxClients
	s.mu.Unlock()
	switch {
	case full:
		return "ERR max number of clients reached"
	case s.cfg.Password == "" && !s.cfg.Unprotected && !isLoopback(conn):
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

func isLoopback(conn net.Conn) bool {
	addr, ok := conn.RemoteAddr().(*net.TCPAddr)
	return !ok || addr.IP.IsLoopback() // what is not TCP comes from this machine
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

// Shutdown stops accepting, lets every connection finish the requests that it has received and write their replies, and
// closes them. When ctx ends first, the rest are cut and its error is returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	s.mu.Lock()
	if s.listener != nil {
		s.listener.Close()
	}
	for c := range s.clients {
		c.conn.SetReadDeadline(time.Now()) // wakes those that wait for requests
	}
	s.mu.Unlock()

	drained := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(drained)
	}()
	var err error
	select {
	case <-drained:
	case <-ctx.Done():
		err = ctx.Err()
		s.cut()
		<-drained
	}
	s.endLife()
	return err
}

// cut closes every connection at once and ends their waits.
func (s *Server) cut() {
	s.endLife()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		c.conn.Close()
	}
}
