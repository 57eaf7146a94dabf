package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"redleaf/alloc"
	"redleaf/snowflake"
)

// replyTimeout ends a test that waits for a reply which never comes.
const replyTimeout = 20 * time.Second

// testServer is a running server on stores in memory.
type testServer struct {
	*Server
	addr   string
	store  *alloc.MemStore
	panics int64 // that the test brings about
}

// newTestServer starts a server on a free port; the test's end stops it.
func newTestServer(t testing.TB, change ...func(*Config)) *testServer {
	t.Helper()
	s := newIdleServer(t, change...)
	s.start(t)
	return s
}

// newIdleServer returns a server that start makes answer.
func newIdleServer(t testing.TB, change ...func(*Config)) *testServer {
	t.Helper()
	store := alloc.NewMemStore()
	segments := alloc.New(store, alloc.Config{AutoCreate: true})
	t.Cleanup(func() { segments.Close(context.Background()) })
	node, err := snowflake.Start(t.Context(), snowflake.NewMemWindows(nowMs), snowflake.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close(context.Background()) })
	cfg := Config{Segments: segments, Snowflakes: node, Version: "test", NodeID: "n1"}
	for _, c := range change {
		c(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &testServer{Server: s, store: store}
}

func (s *testServer) start(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Shutdown(context.Background())
		if n := s.stats.panics.Load(); n != s.panics {
			t.Errorf("%d connections ended by a panic, want %d", n, s.panics)
		}
		if err := <-done; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

// talk is a raw connection.
type talk struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

func dial(t testing.TB, network, addr string) *talk {
	t.Helper()
	conn, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &talk{t, conn, bufio.NewReader(conn)}
}

func (k *talk) send(s string) {
	k.t.Helper()
	k.conn.SetDeadline(time.Now().Add(replyTimeout))
	if _, err := io.WriteString(k.conn, s); err != nil {
		k.t.Fatalf("sending %.80q: %v", s, err)
	}
}

// reply reads one whole reply, raw.
func (k *talk) reply() string {
	k.t.Helper()
	k.conn.SetDeadline(time.Now().Add(replyTimeout))
	var b strings.Builder
	if err := readReply(k.r, &b); err != nil {
		k.t.Fatalf("reading a reply: %v; so far %q", err, b.String())
	}
	return b.String()
}

// do sends one inline request and returns its reply, raw.
func (k *talk) do(line string) string {
	k.t.Helper()
	k.send(line + "\r\n")
	return k.reply()
}

// rest reads until the server closes the connection.
func (k *talk) rest() string {
	k.t.Helper()
	k.conn.SetDeadline(time.Now().Add(replyTimeout))
	all, err := io.ReadAll(k.r)
	if err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
		k.t.Fatalf("reading to the end: %v; so far %q", err, all)
	}
	return string(all)
}

// readReply copies one reply, of RESP2 or RESP3, to b.
func readReply(r *bufio.Reader, b *strings.Builder) error {
	line, err := r.ReadString('\n')
	b.WriteString(line)
	if err != nil {
		return err
	}
	if len(line) < 3 || !strings.HasSuffix(line, "\r\n") {
		return errors.New("not a reply")
	}
	switch line[0] {
	case '+', '-', ':', '_', '#', ',', '(':
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	if err != nil {
		return err
	}
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return nil
		}
		body := make([]byte, n+2)
		_, err := io.ReadFull(r, body)
		b.Write(body)
		if err == nil && !bytes.HasSuffix(body, []byte("\r\n")) {
			err = errors.New("no line end after a bulk string")
		}
		return err
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return errors.New("not a reply")
	}
	for range n {
		if err := readReply(r, b); err != nil {
			return err
		}
	}
	return nil
}

// request encodes a request as clients do.
func request(args ...string) string {
	var b strings.Builder
	b.WriteString("*" + strconv.Itoa(len(args)) + "\r\n")
	for _, arg := range args {
		b.WriteString("$" + strconv.Itoa(len(arg)) + "\r\n" + arg + "\r\n")
	}
	return b.String()
}

// inlined turns "INCR segment:x" into an encoded request; words have no spaces.
func inlined(line string) string { return request(strings.Fields(line)...) }

// repeat is n requests in one string.
func repeat(n int, line string) string { return strings.Repeat(inlined(line), n) }
