package server

import (
	"context"
	"errors"
	"net"
	"time"
)

// Pauses of the accept loop while connections can't be accepted, for want of file descriptors say.
const (
	minAcceptPause = 5 * time.Millisecond
	maxAcceptPause = time.Second
)

// Serve answers connections of the listener until Shutdown, which closes it. Several listeners may be served at a time.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	s.listeners = append(s.listeners, l)
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
			s.pause(pause)
			pause = min(2*pause, maxAcceptPause)
		}
	}
}

// pause waits, but not beyond the server's life.
func (s *Server) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.life.Done():
	}
}

// Shutdown stops accepting, lets every connection finish the requests that it has received and write their replies, and
// closes them. When ctx ends first, the rest are cut and its error is returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	s.mu.Lock()
	for _, l := range s.listeners {
		l.Close()
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
	s.sampling.Wait()
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
