package server

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"redleaf/snowflake"
)

// discardConn is a connection whose replies nobody reads.
type discardConn struct{ net.Conn }

func (discardConn) Write(p []byte) (int, error)      { return len(p), nil }
func (discardConn) SetWriteDeadline(time.Time) error { return nil }
func (discardConn) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// batchOf returns a function that serves the same input again and again without a network.
func batchOf(s *Server, input []byte) func() {
	c := newClient(s, discardConn{}, 1)
	return func() {
		c.in.buf = input
		c.in.r, c.in.w = 0, len(input)
		c.batch()
		c.flush()
	}
}

// The loop must not allocate for each command.
func TestNoAllocationPerCommand(t *testing.T) {
	s := newTestServer(t)
	for _, line := range []string{"INCR segment:a", "INCRBY segment:a 1", "GET snowflake:a", "LPOP segment:a", "PING", "INCR segment:a{7}", "MGET snowflake:a x"} {
		serve := batchOf(s.Server, []byte(repeat(1000, line)))
		serve()
		// The refills of a tag allocate; they are few.
		if per := testing.AllocsPerRun(5, serve) / 1000; per > 0.05 {
			t.Errorf("%s: %.3f allocations each", line, per)
		}
	}
}

// BenchmarkLoop is the cost of a command without the network: of equal ones in a row, and of ten tags in turn.
func BenchmarkLoop(b *testing.B) {
	const depth = 1000
	var tens strings.Builder
	for i := range 10 {
		tens.WriteString(inlined(fmt.Sprintf("INCR segment:tag%d", i)))
	}
	for _, bb := range []struct{ name, input string }{
		{"incr", repeat(depth, "INCR segment:a")},
		{"incr-apart", strings.Repeat(inlined("INCR segment:a")+"*0\r\n", depth)},
		{"incr-10-tags", strings.Repeat(tens.String(), depth/10)},
		{"get-snowflake", repeat(depth, "GET snowflake:a")},
		{"get-snowflake-apart", strings.Repeat(inlined("GET snowflake:a")+"*0\r\n", depth)},
		{"lpop-1000", inlined("LPOP segment:a 1000")},
		{"ping", repeat(depth, "PING")},
	} {
		b.Run(bb.name, func(b *testing.B) {
			serve := batchOf(newTestServer(b, manyWorkers(b)).Server, []byte(bb.input))
			for i := 0; i < b.N; i += depth {
				serve()
			}
		})
	}
}

// manyWorkers gives the server 64 worker ids: with one the layout, 4,096 ids a millisecond, would be all that is measured.
func manyWorkers(b *testing.B) func(*Config) {
	return func(c *Config) {
		node, err := snowflake.Start(b.Context(), snowflake.NewMemWindows(nowMs), snowflake.Config{Workers: 64})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { node.Close(context.Background()) })
		c.Snowflakes = node
	}
}

// BenchmarkPipeline is whole requests over loopback, one connection, at several pipeline depths; time is per command.
func BenchmarkPipeline(b *testing.B) {
	s := newTestServer(b)
	for _, depth := range []int{1, 16, 128, 1024} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			conn, err := net.Dial("tcp", s.addr)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			pipeline := []byte(repeat(depth, "INCR segment:a"))
			buf := make([]byte, 64<<10)
			for i := 0; i < b.N; i += depth {
				if _, err := conn.Write(pipeline); err != nil {
					b.Fatal(err)
				}
				for replies := 0; replies < depth; {
					n, err := conn.Read(buf)
					if err != nil {
						b.Fatal(err)
					}
					replies += bytes.Count(buf[:n], []byte{'\n'})
				}
			}
		})
	}
}
