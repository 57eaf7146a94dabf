package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Input that has killed or confused servers. Each gets a protocol error and a closed connection, within bounded memory,
// while another client goes on undisturbed.
func TestAttacks(t *testing.T) {
	s := newTestServer(t)
	stop, drawn := make(chan struct{}), make(chan int64)
	go drawUntil(t, s.addr, stop, drawn)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, tt := range []struct{ raw, want string }{
		{"*1\r\n$9223372036854775807\r\n", "invalid bulk length"},
		{"*-9223372036854775809\r\n", "invalid multibulk length"},
		{"*1000000000\r\n", "invalid multibulk length"},
		{"*1\r\n$-2\r\n", "invalid bulk length"},
		{"*1\r\n$-9223372036854775808\r\n", "invalid bulk length"},
		{"*2\r\n$4\r\nECHO\r\n$-2\r\n", "invalid bulk length"},
		{"*+1\r\n$4\r\nPING\r\n", "invalid multibulk length"},
		{"*1\r\n$+4\r\nPING\r\n", "invalid bulk length"},
		{"$9223372036854775807 PING\r\n", "invalid bulk length"},
		{strings.Repeat("a", 1<<20), "too big inline request"},
		{"*3\r\n$3\r\nSET\r\n$9\r\nsegment:a\r\n$600000000\r\n", "invalid bulk length"},
		{"*1048576\r\n" + strings.Repeat("$1\r\na\r\n", 200_000), "invalid bulk length"},
	} {
		k := dial(t, "tcp", s.addr)
		k.conn.SetDeadline(time.Now().Add(replyTimeout))
		io.WriteString(k.conn, tt.raw) // the server may close while this is written
		if got, want := k.rest(), "-ERR Protocol error: "+tt.want+"\r\n"; got != want {
			t.Errorf("%.60q: got %.200q, want %q", tt.raw, got, want)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 64<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	close(stop)
	if n := <-drawn; n == 0 {
		t.Error("the other client drew nothing")
	}
}

// drawUntil draws ids one by one, expecting each to follow the last, and reports how many.
func drawUntil(t *testing.T, addr string, stop <-chan struct{}, drawn chan<- int64) {
	k := dial(t, "tcp", addr)
	n := int64(0)
	defer func() { drawn <- n }()
	for {
		select {
		case <-stop:
			return
		default:
		}
		k.conn.SetDeadline(time.Now().Add(replyTimeout))
		io.WriteString(k.conn, "LPOP segment:undisturbed\r\n")
		var b strings.Builder
		if err := readReply(k.r, &b); err != nil || b.String()[0] != '$' {
			t.Errorf("the other client got %q, %v", b.String(), err)
			return
		}
		n++
	}
}

func TestHTTPAndTLSAreTurnedAway(t *testing.T) {
	s := newTestServer(t)
	for _, raw := range []string{
		"POST / HTTP/1.1\r\nHost: localhost\r\n\r\nINCR segment:stolen\r\n",
		"GET snowflake:a\r\nHost: localhost\r\nINCR segment:stolen\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	} {
		k := dial(t, "tcp", s.addr)
		k.send(raw)
		if got := k.rest(); strings.Contains(got, ":1\r\n") {
			t.Errorf("%.30q: something was executed: %q", raw, got)
		}
	}
	if got := dial(t, "tcp", s.addr).do("EXISTS segment:stolen"); got != ":0\r\n" {
		t.Errorf("a request hidden in HTTP was executed")
	}
}

// However a stream of requests is cut into packets, the replies are the same.
func TestChunking(t *testing.T) {
	stream := inlined("PING") + "ECHO a\r\n" + "\r\n" + inlined("MULTI") + inlined("ECHO b") + inlined("FOO") + inlined("EXEC") +
		"*0\r\n" + request("ECHO", strings.Repeat("x", 5000)) + inlined("HELLO 3")[:0] + "*-1\r\n" + inlined("GET nothing") + inlined("QUIT") + inlined("PING")
	s := newTestServer(t)
	whole := dial(t, "tcp", s.addr)
	whole.send(stream)
	want := whole.rest()
	for _, size := range []int{1, 2, 3, 7, 1000, 4096} {
		c := newPipeClient(s.Server)
		go c.feed(stream, size)
		if got := c.output(); got != want {
			t.Errorf("in pieces of %d: got %.300q, want %.300q", size, got, want)
		}
	}
}

// pipeClient is a connection in memory.
type pipeClient struct {
	conn net.Conn
	done chan string
}

func newPipeClient(s *Server) *pipeClient {
	ours, theirs := net.Pipe()
	c := &pipeClient{conn: theirs, done: make(chan string, 1)}
	s.admit(ours)
	go func() {
		all, _ := io.ReadAll(theirs)
		c.done <- string(all)
	}()
	return c
}

// feed writes the stream in pieces and closes nothing.
func (c *pipeClient) feed(stream string, size int) {
	for len(stream) > 0 {
		n := min(size, len(stream))
		if _, err := io.WriteString(c.conn, stream[:n]); err != nil {
			return
		}
		stream = stream[n:]
	}
}

// output is all that the server wrote before it closed the connection.
func (c *pipeClient) output() string {
	defer c.conn.Close()
	select {
	case out := <-c.done:
		return out
	case <-time.After(replyTimeout):
		return "(the connection was not closed)"
	}
}

// Any bytes: no panic, replies that parse, and a server that serves the next client.
func FuzzConnection(f *testing.F) {
	for _, seed := range []string{
		inlined("PING"), "PING\r\n", inlined("INCR segment:a"), "*1\r\n$9223372036854775807\r\n", "*-1\r\n", "*2\r\n$4\r\nLPOP\r\n$11\r\nsnowflake:a\r\n",
		inlined("MULTI") + inlined("INCR segment:a") + inlined("EXEC"), inlined("HELLO 3") + inlined("HGETALL segment:a"), "ECHO \"\\x00\r\n", "$4 PING\r\n",
		inlined("SCAN 0 MATCH [ COUNT 5"), "COMMAND DOCS\r\nCOMMAND\r\nINFO\r\n", "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n",
	} {
		f.Add([]byte(seed), byte(3))
	}
	s := newTestServer(f)
	f.Fuzz(func(t *testing.T, raw []byte, size byte) {
		c := newPipeClient(s.Server)
		c.feed(string(raw), int(size)+1)
		c.feed("\r\n"+inlined("QUIT"), 100)
		half := time.AfterFunc(50*time.Millisecond, func() { c.conn.Close() }) // raw may end in the middle of a request
		out := c.output()
		half.Stop()
		r := bufio.NewReader(strings.NewReader(out))
		for {
			var b strings.Builder
			if err := readReply(r, &b); err != nil {
				if !errors.Is(err, io.EOF) || b.Len() > 0 {
					t.Fatalf("%q: %v in %q", raw, err, out)
				}
				break
			}
		}
		if n := s.stats.panics.Load(); n > 0 {
			t.Fatalf("%q: panic", raw)
		}
	})
}

// A client that never reads its replies is cut off, and what it held is free again.
func TestClientThatNeverReads(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.WriteTimeout = 100 * time.Millisecond })
	k := dial(t, "tcp", s.addr)
	k.conn.SetDeadline(time.Now().Add(replyTimeout))
	for {
		if _, err := io.WriteString(k.conn, repeat(10, "LPOP segment:a 100000")); err != nil {
			break // cut off
		}
	}
	waitFor(t, func() bool { return s.connected() == 0 && s.memory.used.Load() == 0 })
}

// waitFor waits for what another goroutine brings about.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(replyTimeout); !done(); {
		if time.Now().After(end) {
			t.Fatal("it did not happen")
		}
		runtime.Gosched()
	}
}

// All clients together hold no more than the budget for large requests, replies and transactions.
func TestMemoryBudget(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.MaxMemory = 1 << 20 })
	k := dial(t, "tcp", s.addr)
	if got := k.do("LPOP segment:a 100000"); got != "-TRYAGAIN too many large replies are being sent; ask for fewer ids at a time\r\n" {
		t.Errorf("LPOP: %.100q", got)
	}
	k.do("MULTI")
	k.send(repeat(20_000, "INCR segment:a"))
	refused := 0
	for range 20_000 {
		if k.reply() == "-ERR transaction is too large\r\n" {
			refused++
		}
	}
	if got := k.do("EXEC"); refused == 0 || got != "-EXECABORT Transaction discarded because of previous errors.\r\n" {
		t.Errorf("%d refused; EXEC: %.100q", refused, got)
	}
	if used := s.memory.used.Load(); used != 0 {
		t.Errorf("%d bytes are still taken", used)
	}
	if got := k.do("LPOP segment:a 1000"); !strings.HasPrefix(got, "*1000\r\n") {
		t.Errorf("a small LPOP: %.100q", got)
	}
}

// A panic in a command costs its connection and nothing else.
func TestPanicCostsOneConnection(t *testing.T) {
	var log bytes.Buffer
	s := newIdleServer(t, func(c *Config) { c.Logger = newLogger(&log) })
	s.panics = 1
	s.commands["boom"] = &command{name: "boom", arity: 1, run: func(*client, [][]byte) error { panic("boom") }}
	s.start(t)
	other := dial(t, "tcp", s.addr)
	k := dial(t, "tcp", s.addr)
	k.send(inlined("PING") + inlined("BOOM") + inlined("PING"))
	if got := k.rest(); strings.Count(got, "PONG") > 1 {
		t.Errorf("the connection went on: %q", got)
	}
	if got := other.do("PING"); got != "+PONG\r\n" {
		t.Errorf("the other connection got %q", got)
	}
	waitFor(t, func() bool { return s.connected() == 1 })
	if !strings.Contains(log.String(), "boom") || !strings.Contains(log.String(), "hostile_test.go") {
		t.Errorf("the log says %s", log.String())
	}
}

// flakyListener fails to accept a few times, as without file descriptors.
type flakyListener struct {
	net.Listener
	failures atomic.Int64
}

func (l *flakyListener) Accept() (net.Conn, error) {
	if l.failures.Add(-1) >= 0 {
		return nil, errors.New("too many open files")
	}
	return l.Listener.Accept()
}

func TestAcceptSurvivesFailures(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &flakyListener{Listener: inner}
	l.failures.Store(3)
	s := newTestServer(t)
	second, err := New(s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- second.Serve(l) }()
	if got := dial(t, "tcp", inner.Addr().String()).do("PING"); got != "+PONG\r\n" {
		t.Errorf("got %q", got)
	}
	second.Shutdown(t.Context())
	if err := <-done; !errors.Is(err, ErrServerClosed) {
		t.Errorf("Serve returned %v", err)
	}
}
