package server

import (
	"testing"
	"time"
)

// Idle connections give their buffers back, keep what they received of a request, and go on as if nothing had been.
func TestIdleConnectionsRest(t *testing.T) {
	s := newTestServer(t)
	idle, half, listener := dial(t, "tcp", s.addr), dial(t, "tcp", s.addr), dial(t, "tcp", s.addr)
	idle.do("PING")
	listener.do("SUBSCRIBE news")
	half.do("PING")
	half.send("*1\r\n$4\r\nPI")
	resting := func() (n int) {
		for _, c := range s.all() {
			if c.resting.Load() {
				n++
			}
		}
		return n
	}
	for range 3 {
		waitFor(t, func() bool {
			s.restIdle(time.Now().Add(2 * restAfter))
			return resting() == 3
		})
		if got := idle.do("PING"); got != "+PONG\r\n" {
			t.Fatalf("after a rest: %q", got)
		}
		half.send("NG\r\n*1\r\n$4\r\nPI")
		if got := half.reply(); got != "+PONG\r\n" {
			t.Fatalf("a request that was half there: %q", got)
		}
		if got := listener.do("PING"); got != "*2\r\n$4\r\npong\r\n$0\r\n\r\n" {
			t.Fatalf("a listener after a rest: %q", got)
		}
	}
	waitFor(t, func() bool {
		s.restIdle(time.Now().Add(2 * restAfter))
		return resting() == 3
	})
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := idle.rest(); got != "" {
		t.Errorf("at the end: %q", got)
	}
}

// A resting connection is closed when it has been idle for too long.
func TestRestingConnectionTimesOut(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.IdleTimeout = 200 * time.Millisecond })
	k := dial(t, "tcp", s.addr)
	k.do("PING")
	s.restIdle(time.Now().Add(2 * restAfter))
	if got := k.rest(); got != "" {
		t.Errorf("got %q", got)
	}
}
