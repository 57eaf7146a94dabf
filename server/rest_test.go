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

// Memory is collected once many connections have gone to rest and no more do, and not every second.
func TestMemoryIsCollectedAfterManyRest(t *testing.T) {
	var r rested
	start := time.Unix(1_800_000_000, 0)
	for _, step := range []struct {
		second int
		rest   int64 // connections that go to rest
		due    bool
	}{
		{0, 0, false},
		{1, restMany - 1, false},
		{2, 0, false}, // too few
		{3, 1, false}, // more may follow
		{4, 0, true},
		{5, 0, false},
		{6, restMany, false},
		{7, 0, false}, // too soon
		{63, 0, false},
		{64, 0, true},
		{200, 0, false},
	} {
		r.count.Add(step.rest)
		if got := r.due(start.Add(time.Duration(step.second) * time.Second)); got != step.due {
			t.Errorf("second %d: due is %v", step.second, got)
		}
	}
}
