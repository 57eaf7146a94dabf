package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redleaf/alloc"
)

func newLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// remoteConn is a connection that seems to come from another machine.
type remoteConn struct{ net.Conn }

func (remoteConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711} }

// remote connects to the server as if from another machine.
func remote(t *testing.T, s *testServer) *talk {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	k := dial(t, "tcp", l.Addr().String())
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s.admit(remoteConn{conn})
	return k
}

func TestProtectedMode(t *testing.T) {
	s := newTestServer(t)
	got := remote(t, s).rest()
	if !strings.HasPrefix(got, "-DENIED redleaf is running in protected mode because protected mode is enabled and no password is set for the default user.") ||
		!strings.HasSuffix(got, "\r\n") || !strings.Contains(got, "--requirepass") {
		t.Errorf("got %q", got)
	}
}

// Without protection everybody may draw, but tags are administered from this machine only.
func TestUnprotected(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.Unprotected = true })
	k := remote(t, s)
	if got := k.do("INCR segment:a"); got != ":1\r\n" {
		t.Errorf("INCR: %q", got)
	}
	for _, line := range []string{"SET segment:a 100", "HSET segment:a step 5", "DEL segment:a"} {
		name, _, _ := strings.Cut(strings.ToLower(line), " ")
		if got := k.do(line); !strings.HasPrefix(got, "-NOPERM this user has no permissions to run the '"+name+"' command") {
			t.Errorf("%s: %q", line, got)
		}
	}
	k.do("MULTI")
	if got := k.do("SET segment:a 100"); !strings.HasPrefix(got, "-NOPERM") {
		t.Errorf("SET in MULTI: %q", got)
	}
	if got := k.do("EXEC"); !strings.HasPrefix(got, "-EXECABORT") {
		t.Errorf("EXEC: %q", got)
	}
	if got := dial(t, "tcp", s.addr).do("SET segment:a 5000"); got != "+OK\r\n" {
		t.Errorf("SET from this machine: %q", got)
	}
}

func TestPassword(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.Password = "sesame" })
	k := remote(t, s) // with a password, the address makes no difference
	if got := k.do("INCR segment:a"); got != "-NOAUTH Authentication required.\r\n" {
		t.Errorf("before AUTH: %q", got)
	}
	if got := k.do("AUTH wrong"); got != "-WRONGPASS invalid username-password pair or user is disabled.\r\n" {
		t.Errorf("a wrong password: %q", got)
	}
	if got := k.do("AUTH sesame"); got != "+OK\r\n" {
		t.Errorf("AUTH: %q", got)
	}
	if got := k.do("SET segment:a 100"); got != "+OK\r\n" {
		t.Errorf("SET: %q", got)
	}
	if got := k.do("CONFIG GET *"); strings.Contains(got, "sesame") {
		t.Errorf("CONFIG GET shows the password: %q", got)
	}
	for _, protocol := range []int{2, 3} {
		c := redis.NewClient(&redis.Options{Addr: s.addr, Password: "sesame", Protocol: protocol, ClientName: "me"})
		defer c.Close()
		if name, err := c.ClientGetName(t.Context()).Result(); err != nil || name != "me" {
			t.Errorf("RESP%d: CLIENT GETNAME %q, %v", protocol, name, err)
		}
	}
}

func TestMaxClients(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.MaxClients = 2 })
	a, b := dial(t, "tcp", s.addr), dial(t, "tcp", s.addr)
	a.do("PING")
	b.do("PING")
	if got := dial(t, "tcp", s.addr).rest(); got != "-ERR max number of clients reached\r\n" {
		t.Errorf("the third got %q", got)
	}
	a.do("QUIT")
	waitFor(t, func() bool { return s.connected() == 1 })
	if got := dial(t, "tcp", s.addr).do("PING"); got != "+PONG\r\n" {
		t.Errorf("after one left: %q", got)
	}
}

func TestHello(t *testing.T) {
	k := dial(t, "tcp", newTestServer(t).addr)
	want := "$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:%d\r\n$2\r\nid\r\n:1\r\n" +
		"$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n$15\r\nredleaf_version\r\n$4\r\ntest\r\n"
	for _, tt := range []struct{ send, want string }{
		{"HELLO", "*16\r\n" + fmt.Sprintf(want, 2)},
		{"HELLO 3 SETNAME me", "%8\r\n" + fmt.Sprintf(want, 3)},
		{"CLIENT GETNAME", "$2\r\nme\r\n"},
		{"GET nothing", "_\r\n"},
		{"HGETALL segment:none", "%0\r\n"},
		{"HELLO", "%8\r\n" + fmt.Sprintf(want, 3)},
		{"RESET", "+RESET\r\n"},
		{"GET nothing", "$-1\r\n"},
		{"CLIENT GETNAME", "$-1\r\n"},
	} {
		if got := k.do(tt.send); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.send, got, tt.want)
		}
	}
}

func TestClientInfo(t *testing.T) {
	k := dial(t, "tcp", newTestServer(t).addr)
	k.do("CLIENT SETNAME me")
	k.do("CLIENT SETINFO lib-name go")
	if got := k.do("CLIENT SETINFO LIB-NAME a\x01"); !strings.HasPrefix(got, "-ERR lib-name cannot contain") {
		t.Errorf("a bad library name: %q", got)
	}
	got := k.do("CLIENT INFO")
	for _, want := range []string{"id=1 ", " addr=" + k.conn.LocalAddr().String() + " ", " name=me ", " resp=2 ", " lib-name=go ", " cmd=client|info "} {
		if !strings.Contains(got, want) {
			t.Errorf("CLIENT INFO lacks %q: %s", want, got)
		}
	}
	k.do("HELLO 3")
	if got := k.do("CLIENT INFO"); !strings.HasPrefix(got, "=") || !strings.Contains(got, "\r\ntxt:id=1 ") {
		t.Errorf("in RESP3: %q", got)
	}
}

// nodesStub lists one node.
type nodesStub struct{ err error }

func (n nodesStub) Beat(context.Context, alloc.Node) error { return n.err }
func (n nodesStub) Leave(context.Context, string) error    { return n.err }
func (n nodesStub) Digest(context.Context) (string, error) { return "one", n.err }
func (n nodesStub) Nodes(context.Context) ([]alloc.Node, error) {
	return []alloc.Node{{ID: "n1", Addr: "192.0.2.1:6379", Live: true, Version: "v9"}}, n.err
}

func TestInfo(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.Nodes, c.StoreName = nodesStub{}, "memory" })
	k := dial(t, "tcp", s.addr)
	k.do("INCR segment:a")
	got := k.do("INFO")
	for _, want := range []string{"\nredis_version:7.0.15\r", "\nredleaf_version:test\r", "\nloading:0\r", "\ncluster_enabled:0\r", "\nrole:master\r",
		"\nconnected_clients:1\r", "\ndb0:keys=1,expires=0,avg_ttl=0\r", "\nsegment_ids_issued:1\r", "\nsnowflake_worker0:id=0,", "\nstore:memory\r", "\nstore_state:ok\r",
		"\nnode0:id=n1,addr=192.0.2.1:6379,state=live,version=v9\r"} {
		if !strings.Contains(got, want) {
			t.Errorf("INFO lacks %q:\n%s", want, got)
		}
	}
	if got := k.do("INFO CPU"); !strings.Contains(got, "# Cpu") || strings.Contains(got, "# Server") {
		t.Errorf("INFO CPU: %q", got)
	}
	away := newTestServer(t, func(c *Config) { c.Nodes = nodesStub{errors.New("connection\nrefused")} })
	if got := dial(t, "tcp", away.addr).do("INFO redleaf"); !strings.Contains(got, "\nstore_state:connection refused\r") {
		t.Errorf("with the store away: %q", got)
	}
}

func TestCommandTable(t *testing.T) {
	s := newTestServer(t)
	c := newClientFor(t, s.addr)
	infos, err := c.Command(t.Context()).Result()
	if err != nil || len(infos) != len(s.commands) {
		t.Fatalf("COMMAND: %d of %d, %v", len(infos), len(s.commands), err)
	}
	if got := infos["mget"]; got.Arity != -2 || got.FirstKeyPos != 1 || got.LastKeyPos != -1 || got.StepCount != 1 || !got.ReadOnly {
		t.Errorf("mget: %+v", got)
	}
	for name, cmd := range s.commands {
		if cmd.name != name || name != strings.ToLower(name) || len(name) > maxCommandName || cmd.run == nil || cmd.about == "" || cmd.arity == 0 {
			t.Errorf("row %+v", cmd)
		}
	}
	if got := dial(t, "tcp", s.addr).do("COMMAND DOCS incr"); !strings.HasPrefix(got, "*2\r\n$4\r\nincr\r\n*8\r\n$7\r\nsummary\r\n") {
		t.Errorf("COMMAND DOCS incr: %q", got)
	}
}

// What was received before the stop is answered; then the connection ends.
func TestShutdownAnswersWhatWasReceived(t *testing.T) {
	const depth = 20_000
	s := newTestServer(t)
	idle, busy := dial(t, "tcp", s.addr), dial(t, "tcp", s.addr)
	idle.do("PING")
	busy.do("PING")
	busy.send(repeat(depth, "INCR segment:a"))
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := busy.rest()
	if n := strings.Count(got, ":"); n != depth || !strings.HasSuffix(got, fmt.Sprintf(":%d\r\n", depth)) {
		t.Errorf("%d of %d requests were answered", n, depth)
	}
	if got := idle.rest(); got != "" {
		t.Errorf("the idle client got %q", got)
	}
	if conn, err := net.Dial("tcp", s.addr); err == nil {
		conn.Close()
		t.Error("a connection was accepted after Shutdown")
	}
}

// A draw that waits for its store does not hold a stop up beyond its deadline.
func TestShutdownHasADeadline(t *testing.T) {
	waiting := make(chan struct{}, 1)
	store := &stuck{alloc.NewMemStore(), waiting}
	segments := alloc.New(store, alloc.Config{AutoCreate: true, Wait: time.Hour, StatementTimeout: time.Hour})
	s := newTestServer(t, func(c *Config) { c.Segments = segments })
	k := dial(t, "tcp", s.addr)
	k.send(inlined("INCR segment:a"))
	<-waiting
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v", err)
	}
	segments.Close(ctx)
}

// stuck is a store whose leases end only with their context.
type stuck struct {
	alloc.Store
	waiting chan<- struct{}
}

func (s *stuck) Lease(ctx context.Context, _ string, _ int64) (alloc.Range, error) {
	s.waiting <- struct{}{}
	<-ctx.Done()
	return alloc.Range{}, ctx.Err()
}
