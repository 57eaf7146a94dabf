package main

import (
	"fmt"
	"net"
	"strings"
	"time"
)

// byteAtATime sends an argument of almost 1 MiB byte by byte. The last bytes must cost no more than the first.
func byteAtATime(v *victim, good *goodClient, report *strings.Builder) error {
	const size, part = 1_000_000, 3_000
	good.rest()
	conn, err := v.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := fmt.Fprintf(conn, "*2\r\n$4\r\nECHO\r\n$%d\r\n", size); err != nil {
		return err
	}
	first, err := dribble(v, conn, part)
	if err != nil {
		return err
	}
	if _, err := conn.Write(make([]byte, size-2*part)); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond) // for the server to read that
	last, err := dribble(v, conn, part)
	if err != nil {
		return err
	}
	fmt.Fprintf(report, "## A byte at a time\n\nOf an argument of %d bytes the first and the last %d were sent one by one. Processor time of the server:\n"+
		"%.1f µs for each of the first, %.1f µs for each of the last. The good client: %s.\n\n",
		size, part, first, last, good.describe(good.mark()))
	if last > 2*first+50 { // reading a megabyte again takes that long
		return fmt.Errorf("a byte costs %.1f µs late in a request, %.1f µs early", last, first)
	}
	return nil
}

// dribble sends n bytes one by one and returns the server's microseconds of processor time for each, the good client's
// requests included.
func dribble(v *victim, conn net.Conn, n int) (float64, error) {
	const gap = 100 * time.Microsecond // enough for the server to read each by itself
	before := v.usage().cpu()
	for range n {
		time.Sleep(gap)
		if _, err := conn.Write([]byte{'x'}); err != nil {
			return 0, err
		}
	}
	return float64((v.usage().cpu() - before).Nanoseconds()) / 1e3 / float64(n), nil
}

// slowLoris opens many connections that send a byte now and then.
func slowLoris(v *victim, good *goodClient, report *strings.Builder) error {
	const clients, rounds, round = 1000, 40, 200 * time.Millisecond
	conns, err := connect(v.Addr, clients)
	defer closeAll(conns)
	if err != nil {
		return err
	}
	good.rest()
	before, start := v.usage().cpu(), time.Now()
	for i := range rounds {
		for j, conn := range conns {
			conn.SetDeadline(time.Now().Add(dialTimeout))
			if _, err := conn.Write(slowPiece(i, j)); err != nil {
				return err
			}
			time.Sleep(time.Until(start.Add(time.Duration(i*clients+j) * round / clients)))
		}
	}
	during, took := good.mark(), time.Since(start)
	fmt.Fprintf(report, "## Slow clients\n\n%d connections each sent one byte every %v for %v. Processor of the server: %.1f %% of one core.\n"+
		"The good client: %s.\n\n",
		clients, round, took.Round(time.Second), 100*(v.usage().cpu()-before).Seconds()/took.Seconds(),
		good.describe(during))
	return nil
}

// slowPiece is what connection j sends in round i: one byte, of a request that no two neighbours are equally far in.
func slowPiece(i, j int) []byte {
	const request = "*2\r\n$4\r\nINCR\r\n$12\r\nsegment:slow\r\n"
	at := j % len(request)
	if i == 0 {
		return []byte(request[:at+1])
	}
	at = (at + i) % len(request)
	return []byte(request[at : at+1])
}

// connect opens n connections; those it opened before a failure are returned as well.
func connect(addr string, n int) ([]net.Conn, error) {
	conns := make([]net.Conn, 0, n)
	for range n {
		conn, err := net.DialTimeout("tcp", addr, dialTimeout)
		if err != nil {
			return conns, err
		}
		conns = append(conns, conn)
	}
	return conns, nil
}

func closeAll(conns []net.Conn) {
	for _, conn := range conns {
		conn.Close()
	}
}
