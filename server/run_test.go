package server

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redleaf/alloc"
)

// apart joins requests so that no two stand in a row: a request of no arguments is skipped without a reply.
func apart(requests []string) string { return strings.Join(requests, "*0\r\n") }

// feed serves a stream in pieces on a connection without a network and returns the replies.
func feed(s *Server, stream string, size int) string {
	var replies bytes.Buffer
	c := newClient(s, keepConn{discardConn{}, &replies}, 1)
	for len(stream) > 0 {
		room := c.in.room()
		n := copy(room, stream[:min(size, len(stream))])
		c.vain = c.vain && c.in.filled
		c.in.received(n)
		stream = stream[n:]
		open := c.batch()
		if c.flush() != nil || !open {
			break
		}
	}
	return replies.String()
}

// keepConn keeps what is written to it.
type keepConn struct {
	discardConn
	to *bytes.Buffer
}

func (c keepConn) Write(p []byte) (int, error) { return c.to.Write(p) }

// dying is a store that stops granting after so many leases.
type dying struct {
	alloc.Store
	left atomic.Int64
}

func (d *dying) Lease(ctx context.Context, tag string, n int64) (alloc.Range, error) {
	if d.left.Add(-1) < 0 {
		return alloc.Range{}, alloc.ErrExhausted
	}
	return d.Store.Lease(ctx, tag, n)
}

// Requests in a row get, byte for byte, the replies of the same requests apart: across segments, digits that roll over,
// numbers that end in the middle, errors in the middle, and however the input is cut.
func TestRunsAnswerLikeSeparateRequests(t *testing.T) {
	set := func(n int64) string { return request("SET", "segment:a", strconv.FormatInt(n, 10)) }
	streams := map[string][]string{
		"one tag":           repeats(5000, inlined("INCR segment:a")),
		"redis-py's incr":   repeats(300, inlined("INCRBY segment:a 1")),
		"pops":              append(repeats(300, inlined("LPOP segment:a")), repeats(300, inlined("RPOP segment:a 3"))...),
		"digits roll over":  append([]string{set(95)}, repeats(2000, inlined("INCR segment:a"))...),
		"up to 19 digits":   append([]string{set(999_999_999_999_999_900)}, repeats(300, inlined("INCR segment:a"))...),
		"numbers end":       append([]string{set(math.MaxInt64 - 50)}, repeats(100, inlined("INCR segment:a"))...),
		"other keys":        append(repeats(3, inlined("INCR other")), repeats(3, inlined("INCR snowflake:a"))...),
		"bad tags":          append(repeats(3, request("INCR", "segment: a")), repeats(3, request("GET", "snowflake:\x01"))...),
		"no such command":   append(repeats(3, inlined("FOO")), repeats(3, inlined("INCR"))...),
		"pings":             append(repeats(100, inlined("PING")), repeats(3, inlined("PING x"))...),
		"a salted key":      append(repeats(10, inlined("INCR segment:a{1}")), repeats(10, inlined("INCR segment:a{2}"))...),
		"transaction":       append(append([]string{inlined("MULTI")}, repeats(100, inlined("INCR segment:a"))...), inlined("EXEC")),
		"muted":             append(append([]string{inlined("CLIENT REPLY OFF")}, repeats(10, inlined("INCR segment:a"))...), inlined("CLIENT REPLY ON")),
		"skip":              append(repeats(3, inlined("CLIENT REPLY SKIP")), repeats(3, inlined("PING"))...),
		"subscribed":        append([]string{inlined("SUBSCRIBE a")}, repeats(3, inlined("PING"))...),
		"quits":             append(append(repeats(5, inlined("INCR segment:a")), repeats(3, inlined("QUIT"))...), inlined("INCR segment:a")),
		"everything logged": append(append([]string{inlined("CONFIG SET slowlog-log-slower-than 0")}, repeats(20, inlined("INCR segment:a"))...), inlined("SLOWLOG LEN")),
		"settings between":  append(append(repeats(50, inlined("INCR segment:a")), set(5000)), repeats(50, inlined("INCR segment:a"))...),
	}
	for name, requests := range streams {
		t.Run(name, func(t *testing.T) {
			want := feed(stepServer(t, 1<<40), apart(requests), 4000)
			for _, size := range []int{1 << 20, 1000, 137, 31} {
				if got := feed(stepServer(t, 1<<40), strings.Join(requests, ""), size); got != want {
					t.Errorf("in pieces of %d:\ngot  %.300q\nwant %.300q", size, got, want)
				}
			}
		})
	}
	t.Run("the store fails in the middle", func(t *testing.T) {
		requests := repeats(3000, inlined("INCR segment:a"))
		want := feed(stepServer(t, 6), apart(requests), 1<<20)
		if got := feed(stepServer(t, 6), strings.Join(requests, ""), 1<<20); got != want || !strings.Contains(want, "-EXHAUSTED") {
			t.Errorf("got  %.300q\nwant %.300q", got, want)
		}
	})
}

func repeats(n int, request string) (all []string) {
	for range n {
		all = append(all, request)
	}
	return all
}

// stepServer is a server whose segments have odd, small lengths, on a store that grants so many of them.
func stepServer(t *testing.T, leases int64) *Server {
	t.Helper()
	store := &dying{Store: alloc.NewMemStore()}
	store.left.Store(leases)
	segments := alloc.New(store, alloc.Config{AutoCreate: true, Step: 37, MaxStep: 37})
	t.Cleanup(func() { segments.Close(context.Background()) })
	s := newIdleServer(t, func(c *Config) { c.Segments = segments })
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil && !errors.Is(err, ErrServerClosed) {
			t.Error(err)
		}
	})
	return s.Server
}

// A run of snowflake ids is as many, rising, each once.
func TestSnowflakeRuns(t *testing.T) {
	s := newTestServer(t)
	replies := feed(s.Server, repeat(20_000, "GET snowflake:a"), 50_000)
	last, n := int64(0), 0
	for line := range strings.SplitSeq(replies, "\r\n") {
		if line == "$19" || line == "" {
			continue
		}
		id, err := strconv.ParseInt(line, 10, 64)
		if err != nil || id <= last {
			t.Fatalf("%q after %d", line, last)
		}
		last = id
		n++
	}
	if n != 20_000 {
		t.Errorf("%d ids", n)
	}
}

func TestEqualRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		size, k := 1+rng.IntN(12), 1+rng.IntN(40)
		one := make([]byte, size)
		for i := range one {
			one[i] = "ab"[rng.IntN(2)]
		}
		buf := bytes.Repeat(one, k)
		for range rng.IntN(30) {
			buf = append(buf, "ab"[rng.IntN(2)])
		}
		if rng.IntN(2) == 0 {
			buf[rng.IntN(len(buf))] = 'c'
			copy(one, buf)
		}
		want := 1
		for (want+1)*size <= len(buf) && bytes.Equal(buf[want*size:(want+1)*size], buf[:size]) {
			want++
		}
		if got := equalRun(buf, size); got != want {
			t.Fatalf("equalRun(%q, %d) = %d, want %d", buf, size, got, want)
		}
	}
}

func TestCountingInPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	starts := []int64{1, 2, 9, 10, 95, 99, 100, 990, 999, 9_999_999, 999_999_999_999_999_990, 1e18 - 1, 1e18, math.MaxInt64 - 40}
	for range 500 {
		starts = append(starts, 1+rng.Int64N(int64(math.Pow(10, float64(rng.IntN(19))))))
	}
	for _, first := range starts {
		n := 1 + rng.Int64N(40)
		if rng.IntN(10) == 0 {
			n = rng.Int64N(1500)
		}
		n = min(n, math.MaxInt64-first)
		var ints, bulks []byte
		for i := range n {
			ints = append(strconv.AppendInt(append(ints, ':'), first+i, 10), "\r\n"...)
			bulks = appendBulkInt(bulks, first+i)
		}
		if got := appendIntRun(nil, first, n); !bytes.Equal(got, ints) {
			t.Fatalf("%d integers from %d: %q", n, first, got)
		}
		if got := appendBulkIntRun(nil, first, n); !bytes.Equal(got, bulks) {
			t.Fatalf("%d bulk strings from %d: %q", n, first, got)
		}
	}
}

// A run that meets an empty tag waits once, not once for each request.
func TestRunWaitsOnce(t *testing.T) {
	segments := alloc.New(&failing{alloc.NewMemStore(), errors.New("connection refused")}, alloc.Config{AutoCreate: true, Wait: 200 * time.Millisecond})
	t.Cleanup(func() { segments.Close(context.Background()) })
	s := newIdleServer(t, func(c *Config) { c.Segments = segments })
	t.Cleanup(func() { s.Shutdown(context.Background()) })
	got := feed(s.Server, repeat(1000, "INCR segment:a"), 1<<20)
	if n := strings.Count(got, "-TRYAGAIN no segment for tag 'a'"); n != 1000 {
		t.Errorf("%d of 1000 errors", n)
	}
	if waits := segments.Totals().Waits; waits != 1 {
		t.Errorf("%d calls waited", waits)
	}
}
