package bench

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestRunMeasures(t *testing.T) {
	l := Load{Connections: 2, Depth: 16, Warmup: 20 * time.Millisecond, Duration: 60 * time.Millisecond, Workload: "incrby", Count: 5}
	l.Target = startFake(t, l.fill(), ":12345678\r\n").target()
	var last Progress
	l.Progress = func(p Progress) { last = p }
	r, err := Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests == 0 || r.IDs != 5*r.Requests || r.Errors != 0 || r.Histogram.TotalCount() != r.Requests || r.Seconds != 0.06 {
		t.Errorf("%+v", r)
	}
	if last.Elapsed != last.Total || last.Total != 80*time.Millisecond {
		t.Errorf("last progress %+v", last)
	}
}

// A rate is kept, and no request is early.
func TestRunAtRate(t *testing.T) {
	l := Load{Connections: 4, Depth: 8, Duration: 100 * time.Millisecond, Rate: 2000, Trace: true}
	l.Target = startFake(t, l.fill(), ":7\r\n").target()
	r, err := Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if sum := int64(len(r.Trace)) + r.Missed; sum < 198 || sum > 202 {
		t.Errorf("%d requests sent and %d missed, want 200 together", len(r.Trace), r.Missed)
	}
	for _, s := range r.Trace {
		if s.Latency <= 0 || s.ID != 7 || s.At < s.Latency {
			t.Errorf("%+v", s)
		}
	}
}

// Latency counts from when a request was due: a server that stops for a while delays all that were due meanwhile.
func TestLatencyFromIntendedTime(t *testing.T) {
	const stop = 60 * time.Millisecond
	addr := serve(t, func(c net.Conn) {
		time.Sleep(stop)
		answer(c, ":1\r\n")
	})
	l := Load{Target: Target{Scheme: "redis", Addr: addr}, Connections: 1, Duration: 100 * time.Millisecond, Rate: 1000}
	r, err := Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	// Measured from when each was sent, one request in a hundred would have waited.
	if r.Latency.P90 < micros(int64(stop))/2 {
		t.Errorf("p90 %v µs of %d requests", r.Latency.P90, r.Requests)
	}
}

func TestRunVerifies(t *testing.T) {
	l := Load{Connections: 2, Duration: 20 * time.Millisecond, Verifier: new(Verifier)}
	l.Target = startFake(t, l.fill(), ":12345678\r\n").target()
	r, err := Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	// One reply for all: each but the first is a duplicate.
	v := l.Verifier.Verdict()
	if v.IDs < r.IDs || v.Duplicates != v.IDs-1 || v.Breaks != v.IDs-2 || !strings.Contains(v.Example, "12345678 of key segment:bench") {
		t.Errorf("%+v of %d ids", v, r.IDs)
	}
}

func TestRunCountsErrors(t *testing.T) {
	l := Load{Connections: 1, Duration: 20 * time.Millisecond}
	l.Target = startFake(t, l.fill(), "-ERR no\r\n").target()
	r, err := Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failure != "ERR no" || r.IDs != 0 || r.Errors != r.Requests || r.Requests == 0 || r.ClientCPU.NanosecondsPerID != 0 {
		t.Errorf("%+v", r)
	}
}

// A connection that fails ends the run at once, whatever its length.
func TestRunFails(t *testing.T) {
	for name, handle := range map[string]func(net.Conn){
		"closed": func(c net.Conn) {},
		"RESP":   func(c net.Conn) { answer(c, "HTTP/1.1 400 Bad Request\r\n") },
		"more":   func(c net.Conn) { answer(c, ":1\r\n:2\r\n") },
	} {
		l := Load{Target: Target{Scheme: "redis", Addr: serve(t, handle)}, Duration: time.Hour}
		if _, err := Run(t.Context(), l); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(t.Context(), Load{Target: Target{Scheme: "unix", Addr: t.TempDir() + "/none"}}); err == nil {
		t.Error("a target that is not there")
	}
}

// Cancelling reaches connections that wait for replies which never come.
func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	addr := serve(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 100))
		cancel(reason)
		_, _ = c.Read(make([]byte, 100))
	})
	if _, err := Run(ctx, Load{Target: Target{Scheme: "redis", Addr: addr}, Connections: 1, Duration: time.Hour}); !errors.Is(err, reason) {
		t.Errorf("%v", err)
	}
}

func TestLogin(t *testing.T) {
	addr := serve(t, func(c net.Conn) {
		buf := make([]byte, 1000)
		n, _ := c.Read(buf)
		if want := string(appendRequest(appendRequest(nil, []string{"AUTH", "u", "p"}), []string{"SELECT", "3"})); string(buf[:n]) != want {
			t.Errorf("%q", buf[:n])
		}
		fmt.Fprint(c, "+OK\r\n-ERR DB index is out of range\r\n")
	})
	l := Load{Target: Target{Scheme: "redis", Addr: addr, User: "u", Password: "p", Database: "3"}, Connections: 1}
	if _, err := Run(t.Context(), l); err == nil || !strings.Contains(err.Error(), "logging in: ERR DB index") {
		t.Errorf("%v", err)
	}
}

func TestRunHTTP(t *testing.T) {
	var last atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := last.Add(1)
		if r.URL.Path != "/api/segment/get/bench" || id == 3 {
			http.Error(w, "no such tag", http.StatusNotFound)
			return
		}
		fmt.Fprintln(w, id)
	}))
	defer server.Close()
	target, err := ParseTarget(server.URL + "/api/segment/get/{tag}")
	if err != nil {
		t.Fatal(err)
	}
	l := Load{Target: target, Connections: 2, Duration: 50 * time.Millisecond, Verifier: new(Verifier)}
	r, err := Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if v := l.Verifier.Verdict(); !v.OK() || v.IDs != last.Load()-1 || r.Errors != 1 || !strings.Contains(r.Failure, "404") {
		t.Errorf("%+v, %d errors, %s, of %d", v, r.Errors, r.Failure, last.Load())
	}
}

func TestRunTLS(t *testing.T) {
	certified := httptest.NewTLSServer(nil) // for its certificate
	defer certified.Close()
	addr := serve(t, func(c net.Conn) {
		answer(tls.Server(c, &tls.Config{Certificates: certified.TLS.Certificates}), ":1\r\n")
	})
	target, err := ParseTarget("rediss://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	l := Load{Target: target, Connections: 1, Duration: 20 * time.Millisecond}
	if _, err := Run(t.Context(), l); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody's: %v", err)
	}
	l.Target.TLS.RootCAs = x509.NewCertPool()
	l.Target.TLS.RootCAs.AddCert(certified.Certificate())
	if r, err := Run(t.Context(), l); err != nil || r.IDs == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// serve accepts connections on loopback and hands each to its own goroutine.
func serve(t *testing.T, handle func(net.Conn)) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return listener.Addr().String()
}

// answer sends a reply to whatever is read.
func answer(c net.Conn, reply string) {
	buf := make([]byte, 4096)
	for {
		if _, err := c.Read(buf); err != nil {
			return
		}
		if _, err := fmt.Fprint(c, reply); err != nil {
			return
		}
	}
}
