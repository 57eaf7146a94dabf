package bench

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// A fakeServer answers requests of one length with one reply, as fast as a server can that does not read what they say.
type fakeServer struct {
	addr    string
	request int    // bytes of a request
	replies []byte // of many requests
	reply   int    // bytes of one
}

// fakeBuffer is how much the server reads at a time.
const fakeBuffer = 512 << 10

func startFake(t testing.TB, l Load, reply string) *fakeServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	f := &fakeServer{
		addr: listener.Addr().String(), request: len(appendRequest(nil, l.command(l.keys()[0]))),
		replies: bytes.Repeat([]byte(reply), fakeBuffer/16), reply: len(reply),
	}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go f.serve(c)
		}
	}()
	return f
}

func (f *fakeServer) serve(c net.Conn) {
	defer c.Close()
	buf := make([]byte, fakeBuffer)
	for part := 0; ; {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		part += n
		if _, err := c.Write(f.replies[:part/f.request*f.reply]); err != nil {
			return
		}
		part %= f.request
	}
}

func (f *fakeServer) target() Target { return Target{Scheme: "redis", Addr: f.addr} }

// fakeWorker is a connection to a fake server, ready to send.
func fakeWorker(t testing.TB, l Load, reply string) *worker {
	t.Helper()
	l = l.fill()
	l.Target = startFake(t, l, reply).target()
	reqs, err := newRequests(l)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dialConn(t.Context(), l, reqs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return &worker{drv: c, reqs: reqs, each: l.each(), depth: l.Depth, to: time.Hour, start: time.Now(), latency: newHistogram(1)}
}

// send exchanges one batch.
func (w *worker) send(t testing.TB, n int) {
	w.begun, w.got = time.Since(w.start), 0
	if err := w.drv.exchange(t.Context(), w.sent, n, w); err != nil {
		t.Fatal(err)
	}
	w.sent += int64(n)
}

func TestClientDoesNotAllocate(t *testing.T) {
	for _, reply := range []string{":12345678\r\n", "$19\r\n2127834482818941024\r\n"} {
		w := fakeWorker(t, Load{Depth: 256, Tags: 3}, reply)
		w.send(t, 256)
		if n := testing.AllocsPerRun(20, func() { w.send(t, 256) }); n > 0 {
			t.Errorf("%q: %v allocations a batch", reply, n)
		}
		if want := int64(22 * 256); w.ids != want || w.requests != want || w.errors != 0 || w.latency.TotalCount() != want {
			t.Errorf("%q: %d ids, %d requests, %d errors; want %d", reply, w.ids, w.requests, w.errors, want)
		}
	}
}

// A server that waits with reading until its replies are read must not wait for a client that waits likewise.
func TestLargeBatches(t *testing.T) {
	const depth = 100_000
	w := fakeWorker(t, Load{Depth: depth, Workload: "lpop", Count: 1}, "*1\r\n$190\r\n"+strings.Repeat("1", 190)+"\r\n")
	for range 2 {
		w.send(t, depth)
	}
	if w.ids != 2*depth {
		t.Errorf("%d ids, want %d", w.ids, 2*depth)
	}
}

// BenchmarkClient is whole exchanges over loopback with a server that does next to nothing, in one process; ns/op is for
// one reply.
func BenchmarkClient(b *testing.B) {
	for _, bb := range []struct{ name, workload, key, reply string }{
		{"incr", "incr", "s:b", ":12345678\r\n"},
		{"get", "get", "s:b", "$19\r\n2127834482818941024\r\n"},
	} {
		for _, depth := range []int{1, 16, 128, 1024, 8192} {
			b.Run(fmt.Sprintf("%s/%d", bb.name, depth), func(b *testing.B) {
				w := fakeWorker(b, Load{Depth: depth, Workload: bb.workload, Key: bb.key}, bb.reply)
				b.ReportAllocs()
				b.ResetTimer()
				for i := 0; i < b.N; i += depth {
					w.send(b, depth)
				}
				perSecond(b)
			})
		}
	}
}
