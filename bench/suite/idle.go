package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"redleaf/bench"
)

const (
	idleConnections = 10_000
	// idleSettle is how long they are left alone before memory is read: both servers give buffers back after a while.
	idleSettle = 15 * time.Second
)

// An idleResult is the memory that idle connections keep in a server.
type idleResult struct {
	Server         string
	Before, After  int64 // resident bytes
	PerConnection  int64
	Connections    int
	PeakAfterUsing int64 // resident bytes just after each had sent its request
}

// idle measures what connections cost that were used once and are idle since.
func (s *suite) idle(ctx context.Context, r *results) error {
	redleaf, err := s.startRedleaf(ctx, "redleaf", "--init", "--max-clients", fmt.Sprint(idleConnections+100))
	if err != nil {
		return err
	}
	defer redleaf.stop()
	redis, err := s.startRedis(ctx)
	if err != nil {
		return err
	}
	defer redis.stop()
	for _, srv := range []*server{redleaf, redis} {
		result, err := measureIdle(ctx, srv)
		if err != nil {
			return fmt.Errorf("%s: %w", srv.name, err)
		}
		r.Idle = append(r.Idle, result)
	}
	ours, theirs := float64(r.Idle[0].PerConnection), float64(r.Idle[1].PerConnection)
	r.addBar(fmt.Sprintf("memory of %d idle connections, Redis / redleaf", idleConnections), 0, "reported, aim for 1.0", bench.RatioOf([]float64{theirs / max(ours, 1)}))
	return nil
}

func measureIdle(ctx context.Context, srv *server) (result idleResult, err error) {
	var all []net.Conn
	defer func() {
		for _, c := range all {
			_ = c.Close()
		}
	}()
	result = idleResult{Server: srv.name, Connections: idleConnections}
	// The first few make what is made once.
	for range 10 {
		c, err := use(ctx, srv.addr)
		if err != nil {
			return result, err
		}
		all = append(all, c)
	}
	if result.Before, err = resident(srv.pid()); err != nil {
		return result, err
	}
	for range idleConnections {
		c, err := use(ctx, srv.addr)
		if err != nil {
			return result, err
		}
		all = append(all, c)
	}
	if result.PeakAfterUsing, err = resident(srv.pid()); err != nil {
		return result, err
	}
	select {
	case <-time.After(idleSettle):
	case <-ctx.Done():
		return result, context.Cause(ctx)
	}
	if result.After, err = resident(srv.pid()); err != nil {
		return result, err
	}
	result.PerConnection = (result.After - result.Before) / idleConnections
	return result, nil
}

// use connects and draws an id.
func use(ctx context.Context, addr string) (net.Conn, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(c, "*2\r\n$4\r\nINCR\r\n$12\r\nsegment:idle\r\n"); err != nil {
		return c, err
	}
	reply := make([]byte, 64)
	n, err := c.Read(reply)
	if err == nil && reply[0] != ':' {
		err = fmt.Errorf("it answers %q", reply[:n])
	}
	return c, err
}

// resident reads how many bytes of a process are in memory.
func resident(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(status)); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			kb, err := number(strings.TrimSuffix(strings.TrimSpace(value), "kB"))
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("process %d has no VmRSS", pid)
}
