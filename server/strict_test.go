package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"redleaf/alloc"
)

// newStrictPair starts two servers on one store, in which the tag t is strict.
func newStrictPair(t *testing.T, change func(addr string, c *Config)) (a, b *testServer) {
	t.Helper()
	store, stricts := alloc.NewMemStore(), alloc.NewMemStricts()
	if err := store.Create(t.Context(), "t", 100, 0); err != nil {
		t.Fatal(err)
	}
	start := func(addr string) *testServer {
		var cfg Config
		change(addr, &cfg)
		segments := alloc.New(store, alloc.Config{AutoCreate: true, StrictWait: cfg.Cluster})
		t.Cleanup(func() { segments.Close(context.Background()) })
		if err := segments.ServeStrict(t.Context(), stricts, addr, addr); err != nil {
			t.Fatal(err)
		}
		return newTestServer(t, func(c *Config) {
			c.Segments, c.Advertise = segments, addr
			change(addr, c)
		})
	}
	a, b = start(testSelf), start("192.0.2.2:6379")
	if got := dial(t, "tcp", a.addr).do("HSET segment:t strict 1"); got != ":0\r\n" {
		t.Fatalf("HSET strict: %q", got)
	}
	return a, b
}

func TestStrictPlain(t *testing.T) {
	a, b := newStrictPair(t, func(string, *Config) {})
	first, second := dial(t, "tcp", a.addr), dial(t, "tcp", b.addr)
	for _, tt := range []struct {
		k          *talk
		send, want string
	}{
		{first, "INCR segment:t", ":1\r\n"},
		{second, "INCR segment:t{salt}", "-READONLY strict tag 't' is served by 192.0.2.1:6379, not by this node\r\n"},
		{second, "LPOP segment:t 3", "-READONLY strict tag 't' is served by 192.0.2.1:6379, not by this node\r\n"},
		{second, "INCRBY segment:t 3", "-READONLY strict tag 't' is served by 192.0.2.1:6379, not by this node\r\n"},
		{second, "INCR segment:u", ":1\r\n"},
		{second, "HGET segment:t strict", "$1\r\n1\r\n"},
		{second, "HGET segment:t holder", "$14\r\n192.0.2.1:6379\r\n"},
		{second, "HGET segment:u strict", "$1\r\n0\r\n"},
		{second, "HSET segment:t strict yes", "-ERR value is out of range, strict is 0 or 1\r\n"},
		{second, "HSET segment:none strict 1", "-NOTAG tag 'none' does not exist; SET segment:none 0 creates it\r\n"},
		{first, "HSET segment:t strict 1 step 200", ":0\r\n"},
		{first, "INCR segment:t", ":2\r\n"},
		{first, "HSET segment:t strict 0", ":0\r\n"},
		{first, "HGET segment:t step", "$3\r\n200\r\n"},
	} {
		if got := tt.k.do(tt.send); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.send, got, tt.want)
		}
	}
	if got := dial(t, "tcp", newTestServer(t).addr).do("HSET segment:t strict 1"); !strings.HasPrefix(got, "-ERR strict tags are not served here") {
		t.Errorf("without a store that keeps strict tags: %q", got)
	}
}

// The owner of the slot serves the tag and others answer MOVED, whatever salt the key has; a change of the map has the tag
// change hands.
func TestStrictCluster(t *testing.T) {
	beats := map[string]*heartbeats{}
	a, b := newStrictPair(t, func(addr string, c *Config) {
		beats[addr] = &heartbeats{addrs: []string{testSelf, "192.0.2.2:6379"}}
		c.Cluster, c.Nodes = true, beats[addr]
	})
	slot := keySlot([]byte("segment:t"))
	top := a.watch.current.Load()
	owner, other := a, b
	if top.peers[top.owner[slot]].addr != testSelf {
		owner, other = b, a
	}
	salted := keySlot([]byte("segment:t{9}"))
	moved := func(slot int, to *testServer) string { return fmt.Sprintf("-MOVED %d %s\r\n", slot, to.cfg.Advertise) }
	atOther := dial(t, "tcp", other.addr)
	for _, tt := range []struct{ send, want string }{
		{"INCR segment:t", moved(slot, owner)},
		{"INCR segment:t{9}", moved(salted, owner)},
		{"LPOP segment:t 5", moved(slot, owner)},
		{"SET segment:t 5", moved(slot, owner)},
		{"DEL segment:t", moved(slot, owner)},
		{"HGET segment:t strict", "$1\r\n1\r\n"},
		{"INCR segment:u", ":1\r\n"},
	} {
		if got := atOther.do(tt.send); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.send, got, tt.want)
		}
	}
	atOwner := dial(t, "tcp", owner.addr)
	if got := atOwner.do("INCR segment:t{9}"); got != ":1\r\n" {
		t.Errorf("at the owner: %q", got)
	}
	// The owner is gone from the other's map before it knows: it has not let go, and is asked.
	beats[other.cfg.Advertise].set(nil, other.cfg.Advertise)
	other.readNodes(sharedTimeout)
	if got := dial(t, "tcp", other.addr).do("INCR segment:t"); !strings.HasPrefix(got, "-TRYAGAIN strict tag 't' is held by "+owner.cfg.Advertise) {
		t.Errorf("held by a node that is gone: %q", got)
	}
	// Then it knows.
	owner.watch.leave(owner.Server)
	if got := atOwner.do("INCR segment:t"); got != ":2\r\n" {
		t.Errorf("at a node that leaves, while others may not know: %q", got)
	}
	owner.watch.generation.Store(everMoving)
	owner.yieldStrict(nil, true)
	if got := atOwner.do("INCR segment:t"); got != moved(slot, other) {
		t.Errorf("at a node that leaves, once others know: %q", got)
	}
	if got := dial(t, "tcp", other.addr).do("INCR segment:t"); got != ":3\r\n" {
		t.Errorf("at the next owner: %q", got)
	}
}
