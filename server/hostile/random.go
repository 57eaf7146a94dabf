package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// sums of what the senders of random bytes did.
type sums struct{ bytes, connections atomic.Int64 }

// randomBytes lets many connections send bytes of no meaning, and requests with some bytes changed.
func randomBytes(v *victim, good *goodClient, report *strings.Builder) error {
	const clients, seconds = 100, 30
	u := v.usage()
	u.resetPeak()
	good.rest()
	var (
		before  = u.now()
		end     = time.Now().Add(seconds * time.Second)
		total   sums
		senders sync.WaitGroup
	)
	for i := range clients {
		senders.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for time.Now().Before(end) {
				babble(v.Addr, r, end, &total)
			}
		})
	}
	senders.Wait()
	peak, during := u.peak(), good.mark()
	after, err := settle(v)
	if err != nil {
		return err
	}
	fmt.Fprintf(report, "## Random bytes\n\n%d clients sent random bytes and damaged requests for %d s: %s over %d connections. Memory: before %s,\n"+
		"most %s, after %s. The good client: %s.\n\n",
		clients, seconds, mb(total.bytes.Load()), total.connections.Load(), mb(before), mb(peak), mb(after), good.describe(during))
	return nil
}

// babble sends on one connection until it is closed or end.
func babble(addr string, r *rand.Rand, end time.Time, total *sums) {
	const pause = 20 * time.Millisecond
	conn, err := net.DialTimeout("tcp", addr, dialTimeout)
	if err != nil {
		time.Sleep(pause)
		return
	}
	defer conn.Close()
	total.connections.Add(1)
	conn.SetDeadline(end.Add(time.Second))
	go func() { _, _ = io.Copy(io.Discard, conn) }() // ends with the connection
	for time.Now().Before(end) {
		n, err := conn.Write(nonsense(r))
		total.bytes.Add(int64(n))
		if err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// nonsense is random bytes, or requests of which a few bytes are changed.
func nonsense(r *rand.Rand) []byte {
	raw := make([]byte, 1+r.IntN(2000))
	if r.IntN(2) == 0 {
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		return raw
	}
	requests := []string{
		"*2\r\n$4\r\nINCR\r\n$11\r\nsegment:rnd\r\n", "*3\r\n$4\r\nLPOP\r\n$13\r\nsnowflake:rnd\r\n$2\r\n10\r\n", "HELLO 3\r\n", "*1\r\n$5\r\nMULTI\r\n",
		"*1\r\n$4\r\nEXEC\r\n", "INFO\r\n", "*4\r\n$4\r\nSCAN\r\n$1\r\n0\r\n$5\r\nMATCH\r\n$1\r\n*\r\n", "CLIENT LIST\r\n", "*2\r\n$7\r\nCOMMAND\r\n$4\r\nDOCS\r\n",
	}
	raw = raw[:0]
	for range 1 + r.IntN(10) {
		raw = append(raw, requests[r.IntN(len(requests))]...)
	}
	for range r.IntN(4) {
		raw[r.IntN(len(raw))] = byte(r.Uint32())
	}
	return raw
}
