package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"redleaf/alloc"
)

const testSelf = "192.0.2.1:6379"

// heartbeats are nodes that come and go as a test wants.
type heartbeats struct {
	mu    sync.Mutex // protects everything below
	addrs []string
	err   error
}

func (h *heartbeats) set(err error, addrs ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.addrs, h.err = addrs, err
}

func (*heartbeats) Beat(context.Context, alloc.Node) error { return nil }
func (*heartbeats) Leave(context.Context, string) error    { return nil }
func (h *heartbeats) Digest(ctx context.Context) (string, error) {
	nodes, err := h.Nodes(ctx)
	return fmt.Sprint(nodes), err
}
func (h *heartbeats) Nodes(context.Context) (nodes []alloc.Node, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, addr := range h.addrs {
		nodes = append(nodes, alloc.Node{ID: addr, Addr: addr, Live: true})
	}
	return append(nodes, alloc.Node{ID: "gone", Addr: "192.0.2.99:6379"}, alloc.Node{ID: "socket", Addr: "/tmp/socket", Live: true}), h.err
}

// newClusterServer starts a server that knows of the nodes with these addresses.
func newClusterServer(t *testing.T, addrs ...string) (*testServer, *heartbeats) {
	t.Helper()
	beats := &heartbeats{addrs: addrs}
	s := newTestServer(t, func(c *Config) {
		c.Cluster, c.Sentinel, c.Advertise, c.Nodes = true, "ids", testSelf, beats
	})
	return s, beats
}

// keyOwnedBy finds a key of the node with this address.
func (s *testServer) keyOwnedBy(t *testing.T, addr string) string {
	t.Helper()
	top := s.watch.current.Load()
	for i := range 1000 {
		key := fmt.Sprintf("segment:k%d", i)
		if top.peers[top.owner[keySlot([]byte(key))]].addr == addr {
			return key
		}
	}
	t.Fatalf("%s owns nothing", addr)
	return ""
}

// movedKey finds a key that the last change gave to another node.
func (s *testServer) movedKey(t *testing.T) string {
	t.Helper()
	top := s.watch.current.Load()
	for i := range 1000 {
		key := fmt.Sprintf("segment:k%d", i)
		if slot := keySlot([]byte(key)); top.changed[slot] == top.generation && int(top.owner[slot]) != top.self {
			return key
		}
	}
	t.Fatal("no slot has gone to another node")
	return ""
}

func TestClusterMap(t *testing.T) {
	s, _ := newClusterServer(t, "192.0.2.2:6379", "[2001:db8::1]:7000", testSelf)
	k := dial(t, "tcp", s.addr)
	nodes := k.do("CLUSTER NODES")
	if !regexp.MustCompile(`(?m)^[0-9a-f]{40} 192\.0\.2\.1:6379@16379 myself,master - 0 0 1 connected \d+`).MatchString(nodes) ||
		!strings.Contains(nodes, " 2001:db8::1:7000@17000 master - ") || strings.Contains(nodes, "192.0.2.99") || strings.Contains(nodes, "socket") {
		t.Errorf("CLUSTER NODES: %s", nodes)
	}
	if got := k.do("CLUSTER INFO"); !strings.Contains(got, "cluster_known_nodes:3\r") || !strings.Contains(got, "cluster_slots_assigned:16384\r") {
		t.Errorf("CLUSTER INFO: %s", got)
	}
	if got := k.do("INFO"); !strings.Contains(got, "\ncluster_enabled:1\r") || !strings.Contains(got, "\nredis_mode:cluster\r") {
		t.Errorf("INFO: %s", got)
	}
	if got := k.do("HELLO"); !strings.Contains(got, "cluster") {
		t.Errorf("HELLO: %q", got)
	}
	k.do("INCR segment:orders")
	slot := keySlot([]byte("segment:orders"))
	if got := k.do(fmt.Sprintf("CLUSTER GETKEYSINSLOT %d 10", slot)); got != "*1\r\n$14\r\nsegment:orders\r\n" {
		t.Errorf("CLUSTER GETKEYSINSLOT: %q", got)
	}
	if got := k.do("CLUSTER MEET 127.0.0.1 7000"); !strings.HasPrefix(got, "-ERR CLUSTER MEET is not supported: ") {
		t.Errorf("CLUSTER MEET: %q", got)
	}
}

// All slots are there once, in order, with every other node as a replica.
func TestClusterSlots(t *testing.T) {
	s, _ := newClusterServer(t, "192.0.2.2:6379", "192.0.2.3:6379")
	c := newClientFor(t, s.addr)
	ranges, err := c.ClusterSlots(t.Context()).Result() //nolint:staticcheck // it is what is tested
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	for _, r := range ranges {
		if r.Start != next || len(r.Nodes) != 3 || r.Nodes[0].ID == r.Nodes[1].ID {
			t.Fatalf("%+v after slot %d", r, next)
		}
		next = r.End + 1
	}
	if next != slotCount {
		t.Errorf("the last slot is %d", next-1)
	}
	shards, err := c.ClusterShards(t.Context()).Result()
	if err != nil || len(shards) != 3 || len(shards[0].Nodes) != 3 {
		t.Errorf("CLUSTER SHARDS: %+v, %v", shards, err)
	}
}

// A connection is told once that the map has changed, and only about keys for which it has.
func TestMovedOncePerConnection(t *testing.T) {
	s, beats := newClusterServer(t, "192.0.2.2:6379", "192.0.2.3:6379")
	k, reader, asker := dial(t, "tcp", s.addr), dial(t, "tcp", s.addr), dial(t, "tcp", s.addr)
	orphan, others := s.keyOwnedBy(t, "192.0.2.3:6379"), s.keyOwnedBy(t, "192.0.2.2:6379")
	for _, key := range []string{orphan, others} {
		if got := k.do("INCR " + key); got != ":1\r\n" {
			t.Fatalf("before the change: %q", got)
		}
	}
	asker.do("PING")
	reader.do("READONLY")
	beats.set(nil, "192.0.2.4:6379", "192.0.2.2:6379") // 3 is gone, 4 has come
	s.readNodes(time.Second)
	orphan = s.movedKey(t)
	moved := "-MOVED " + strconv.Itoa(keySlot([]byte(orphan))) + " 192.0.2."
	if got := k.do("INCR " + orphan); !strings.HasPrefix(got, moved) {
		t.Errorf("after the change: %q", got)
	}
	if got := k.do("INCR " + orphan); !strings.HasPrefix(got, ":") {
		t.Errorf("the second time: %q", got)
	}
	if asker.do("CLUSTER SLOTS"); !strings.HasPrefix(asker.do("INCR "+orphan), ":") {
		t.Error("a client that has read the map was told that it changed")
	}
	if got := reader.do("EXISTS " + orphan); !strings.HasPrefix(got, ":") {
		t.Errorf("a reader of any node was told: %q", got)
	}
	fresh := dial(t, "tcp", s.addr)
	if got := fresh.do("INCR " + orphan); !strings.HasPrefix(got, moved) {
		t.Errorf("a new connection soon after the change: %q", got)
	}
}

// A node that has left is listed for a while, as a replica without slots; one that has died is not.
func TestDeparture(t *testing.T) {
	s, beats := newClusterServer(t, "192.0.2.2:6379", "192.0.2.99:6379")
	beats.set(nil) // of 99 there is an old heartbeat
	s.readNodes(time.Second)
	k := dial(t, "tcp", s.addr)
	if got := k.do("CLUSTER NODES"); !strings.Contains(got, " 192.0.2.2:6379@16379 slave ") || strings.Contains(got, "192.0.2.99") {
		t.Errorf("CLUSTER NODES: %q", got)
	}
	s.watch.mu.Lock()
	for p := range s.watch.left {
		s.watch.left[p] = time.Now().Add(-time.Minute)
	}
	s.watch.mu.Unlock()
	before := s.watch.generation.Load()
	s.readNodes(time.Second)
	if got := k.do("CLUSTER NODES"); strings.Contains(got, "192.0.2.2") {
		t.Errorf("CLUSTER NODES later: %q", got)
	}
	if s.watch.generation.Load() != before {
		t.Error("clients are told that a node which had no slots is not there any more")
	}
}

// After a node has died, clients are told about any key, but not twice in a moment: the second try is served.
func TestMovedAfterDeath(t *testing.T) {
	s, beats := newClusterServer(t, "192.0.2.99:6379", "192.0.2.2:6379")
	key := s.keyOwnedBy(t, testSelf)
	a, b := dial(t, "tcp", s.addr), dial(t, "tcp", s.addr)
	a.do("INCR " + key)
	b.do("INCR " + key)
	beats.set(nil, "192.0.2.2:6379") // of 99 there is an old heartbeat
	s.readNodes(time.Second)
	want := "-MOVED " + strconv.Itoa(keySlot([]byte(key))) + " " + testSelf + "\r\n"
	if got := a.do("INCR " + key); got != want {
		t.Errorf("the first got %q", got)
	}
	if got := b.do("INCR " + key); got != ":3\r\n" {
		t.Errorf("the second got %q", got)
	}
	time.Sleep(tellEvery)
	if got := b.do("INCR " + key); got != want {
		t.Errorf("the second got %q later", got)
	}
	if got := b.do("INCR " + key); got != ":4\r\n" {
		t.Errorf("the second got %q in the end", got)
	}
}

// A pipeline is moved as a whole, and so is a transaction; a run of equal requests too.
func TestMovedPipeline(t *testing.T) {
	s, beats := newClusterServer(t, "192.0.2.2:6379")
	k, tx := dial(t, "tcp", s.addr), dial(t, "tcp", s.addr)
	key := s.keyOwnedBy(t, testSelf)
	k.do("INCR " + key)
	tx.do("PING")
	beats.set(nil, "192.0.2.2:6379", "192.0.2.3:6379", "192.0.2.4:6379", "192.0.2.5:6379")
	s.readNodes(time.Second)
	key = s.movedKey(t)
	k.send(repeat(20, "INCR "+key))
	for range 20 {
		if got := k.reply(); !strings.HasPrefix(got, "-MOVED") {
			t.Fatalf("got %q", got)
		}
	}
	k.send(repeat(20, "INCR "+key))
	for range 20 {
		if got := k.reply(); !strings.HasPrefix(got, ":") {
			t.Fatalf("the next pipeline: %q", got)
		}
	}
	tx.send(inlined("MULTI") + inlined("INCR "+key) + inlined("INCR "+key) + inlined("EXEC"))
	for _, want := range []string{"+OK", "-MOVED", "-MOVED", "-EXECABORT"} {
		if got := tx.reply(); !strings.HasPrefix(got, want) {
			t.Errorf("transaction: got %q, want %s", got, want)
		}
	}
	if n := s.stats.errors.total(); n < 22 {
		t.Errorf("%d errors were counted", n)
	}
}

// When the store comes back, nodes that could not be seen are not taken for dead.
func TestMapSurvivesTheStore(t *testing.T) {
	s, beats := newClusterServer(t, "192.0.2.2:6379", "192.0.2.3:6379")
	beats.set(errors.New("away"))
	s.readNodes(time.Second)
	beats.set(nil) // it is back, and nobody was seen for long
	s.readNodes(time.Second)
	if n := len(s.watch.current.Load().peers); n != 3 {
		t.Errorf("%d nodes are left", n)
	}
	s.watch.mu.Lock()
	s.watch.failed = time.Now().Add(-time.Minute)
	s.watch.mu.Unlock()
	s.readNodes(time.Second)
	if n := len(s.watch.current.Load().peers); n != 1 {
		t.Errorf("%d nodes are left a minute later", n)
	}
}

// A node that leaves answers MOVED to every key, tells listeners of the sentinel protocol, and knows another master.
func TestLeave(t *testing.T) {
	s, _ := newClusterServer(t, "192.0.2.2:6379")
	k, listener, all := dial(t, "tcp", s.addr), dial(t, "tcp", s.addr), dial(t, "tcp", s.addr)
	k.do("PING")
	listener.do("SUBSCRIBE +switch-master")
	all.do("HELLO 3")
	all.do("PSUBSCRIBE *")
	if got := k.do("SENTINEL GET-MASTER-ADDR-BY-NAME ids"); got != "*2\r\n$9\r\n192.0.2.1\r\n$4\r\n6379\r\n" {
		t.Errorf("the master before: %q", got)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		s.Leave(t.Context())
	}()
	message := "ids 192.0.2.1 6379 192.0.2.2 6379"
	if got := listener.reply(); got != "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$"+strconv.Itoa(len(message))+"\r\n"+message+"\r\n" {
		t.Errorf("the listener got %q", got)
	}
	if got := all.reply(); !strings.HasPrefix(got, ">4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$14\r\n+switch-master\r\n") {
		t.Errorf("the listener to all got %q", got)
	}
	waitFor(t, func() bool { return s.watch.generation.Load() == everMoving })
	for range 3 {
		if got := k.do("INCR segment:a"); !strings.HasSuffix(got, " 192.0.2.2:6379\r\n") || !strings.HasPrefix(got, "-MOVED ") {
			t.Errorf("while leaving: %q", got)
		}
	}
	if got := k.do("SENTINEL GET-MASTER-ADDR-BY-NAME ids"); got != "*2\r\n$9\r\n192.0.2.2\r\n$4\r\n6379\r\n" {
		t.Errorf("the master after: %q", got)
	}
	if got := k.do("CLUSTER NODES"); !strings.Contains(got, testSelf+"@16379 myself,slave ") || !strings.Contains(got, " connected 0-16383\n") {
		t.Errorf("CLUSTER NODES: %q", got)
	}
	if got := k.do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: %q", got)
	}
	<-left
}

// The last node has nowhere to send clients, so it serves to the end.
func TestLeaveAlone(t *testing.T) {
	s, _ := newClusterServer(t)
	k := dial(t, "tcp", s.addr)
	k.do("PING")
	since := time.Now()
	s.Leave(t.Context())
	if took := time.Since(since); took > othersKnow/2 {
		t.Errorf("it took %v", took)
	}
	if got := k.do("INCR segment:a"); got != ":1\r\n" {
		t.Errorf("got %q", got)
	}
}

func TestSentinelCommands(t *testing.T) {
	s, _ := newClusterServer(t, "192.0.2.2:6379", "192.0.2.3:6379")
	c := newClientFor(t, s.addr)
	for _, tt := range []struct {
		send string
		want int
	}{{"masters", 1}, {"sentinels ids", 2}, {"replicas ids", 2}, {"slaves ids", 2}, {"get-master-addr-by-name ids", 2}} {
		args := []any{"sentinel"}
		for word := range strings.FieldsSeq(tt.send) {
			args = append(args, word)
		}
		if got, err := c.Do(t.Context(), args...).Slice(); err != nil || len(got) != tt.want {
			t.Errorf("SENTINEL %s: %v, %v", tt.send, got, err)
		}
	}
	plain := dial(t, "tcp", newTestServer(t).addr)
	if got := plain.do("SENTINEL MASTERS"); !strings.HasPrefix(got, "-ERR unknown command 'SENTINEL'") {
		t.Errorf("without --sentinel: %q", got)
	}
}

// What does not depend on the nodes is, byte for byte, what Redis in cluster mode answers; of the rest the shape.
func TestSameAsRedisCluster(t *testing.T) {
	port := freePort(t)
	socket := startRedis(t, "--port", port, "--bind", "127.0.0.1", "--cluster-enabled", "yes")
	theirs := dial(t, "unix", socket)
	theirs.do("CLUSTER ADDSLOTSRANGE 0 16383")
	waitFor(t, func() bool { return strings.Contains(theirs.do("CLUSTER INFO"), "cluster_state:ok") })
	addr := net.JoinHostPort("127.0.0.1", port)
	s := newTestServer(t, func(c *Config) { c.Cluster, c.Advertise, c.Nodes = true, addr, &heartbeats{} })
	for _, line := range []string{
		"CLUSTER", "CLUSTER FOO", "CLUSTER SLOTS a", "CLUSTER KEYSLOT", "CLUSTER KEYSLOT foo", "CLUSTER KEYSLOT {foo}bar", "CLUSTER KEYSLOT {}bar", "CLUSTER KEYSLOT a{b{c}d}e", "CLUSTER KEYSLOT segment:orders{7}",
		"CLUSTER COUNTKEYSINSLOT", "CLUSTER COUNTKEYSINSLOT 5", "CLUSTER COUNTKEYSINSLOT x", "CLUSTER COUNTKEYSINSLOT 16384", "CLUSTER COUNTKEYSINSLOT -1",
		"CLUSTER GETKEYSINSLOT 5 5", "CLUSTER GETKEYSINSLOT 5 -1", "CLUSTER GETKEYSINSLOT 5", "CLUSTER REPLICAS x", "CLUSTER SLAVES x", "CLUSTER COUNT-FAILURE-REPORTS x", "CLUSTER LINKS",
		"READONLY", "READWRITE", "ASKING", "READONLY a", "CLUSTER MEET a", "INFO cluster", "ROLE",
	} {
		compare(t, socket, s.addr, line+"\r\n", "")
	}
	id := regexp.MustCompile(`[0-9a-f]{40}`)
	for _, line := range []string{"CLUSTER SLOTS", "CLUSTER SHARDS", "CLUSTER MYID"} {
		for _, before := range []string{"", "HELLO 3\r\n"} {
			theirs, _ := exchange(t, "unix", socket, before+line+"\r\n")
			ours, _ := exchange(t, "tcp", s.addr, before+line+"\r\n")
			if before != "" {
				theirs, ours = withoutFirst(t, theirs), withoutFirst(t, ours)
			}
			// A node of Redis that never heard from another does not know its own address.
			theirs = strings.ReplaceAll(theirs, "$0\r\n\r\n", "$9\r\n127.0.0.1\r\n")
			if id.ReplaceAllString(ours, "id") != id.ReplaceAllString(theirs, "id") {
				t.Errorf("%s%s:\nredis   %q\nredleaf %q", before, line, theirs, ours)
			}
		}
	}
}

// freePort finds a port whose tenth thousand after is one as well.
func freePort(t *testing.T) string {
	t.Helper()
	for port := 21000; port < 30000; port++ {
		a, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		b, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+10000))
		a.Close()
		if err == nil {
			b.Close()
			return strconv.Itoa(port)
		}
	}
	t.Fatal("no free port")
	return ""
}

// While the store does not answer it is looked at less and less, and never much less.
func TestWatchPause(t *testing.T) {
	if got := watchPause(0); got != watchEvery {
		t.Errorf("while it answers: %v", got)
	}
	for failures := 1; failures < 100; failures++ {
		if got := watchPause(failures); got < watchEvery || got > maxWatchPause {
			t.Errorf("after %d failures: %v", failures, got)
		}
	}
}
