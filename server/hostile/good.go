package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// pace is the pause of the good client between two requests.
const pace = 500 * time.Microsecond

// goodClient draws ids one by one while others attack. Each must follow the last.
type goodClient struct {
	conn  net.Conn
	quiet latencies // of the last time without an attack
	done  chan struct{}

	mu    sync.Mutex // protects everything below
	took  []time.Duration
	drawn int64
	err   error
}

// latencies sum up the good client's requests of one attack.
type latencies struct {
	requests  int
	p99, most time.Duration
}

func newGoodClient(addr string) (*goodClient, error) {
	conn, err := net.DialTimeout("tcp", addr, dialTimeout)
	if err != nil {
		return nil, err
	}
	g := &goodClient{conn: conn, done: make(chan struct{})}
	go g.draw()
	return g, nil
}

func (g *goodClient) draw() {
	defer close(g.done)
	r := bufio.NewReader(g.conn)
	for last := int64(0); ; last++ {
		start := time.Now()
		g.conn.SetDeadline(start.Add(dialTimeout))
		if _, err := io.WriteString(g.conn, "INCR segment:good\r\n"); err != nil {
			g.fail(err)
			return
		}
		line, err := r.ReadString('\n')
		if err != nil {
			g.fail(err)
			return
		}
		if id, err := strconv.ParseInt(strings.Trim(line, ":\r\n"), 10, 64); err != nil || id != last+1 {
			g.fail(fmt.Errorf("%q came after id %d", line, last))
			return
		}
		g.mu.Lock()
		g.took = append(g.took, time.Since(start))
		g.drawn++
		g.mu.Unlock()
		time.Sleep(pace)
	}
}

func (g *goodClient) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
}

// rest measures the good client while nobody attacks, for what comes next to be compared with.
func (g *goodClient) rest() {
	time.Sleep(200 * time.Millisecond) // what went before dies down
	g.mark()
	time.Sleep(2 * time.Second)
	g.quiet = g.mark()
}

// mark returns the latencies since the last mark.
func (g *goodClient) mark() latencies {
	g.mu.Lock()
	took := g.took
	g.took = nil
	g.mu.Unlock()
	if len(took) == 0 {
		return latencies{}
	}
	slices.Sort(took)
	return latencies{len(took), took[len(took)*99/100], took[len(took)-1]}
}

// undisturbed is an error once a draw has failed.
func (g *goodClient) undisturbed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return fmt.Errorf("the good client was disturbed: %w", g.err)
	}
	return nil
}

// stop ends the client and returns how many ids it drew.
func (g *goodClient) stop() int64 {
	g.conn.Close()
	<-g.done
	return g.drawn
}

// describe writes latencies beside those of the quiet time before.
func (g *goodClient) describe(l latencies) string {
	return fmt.Sprintf("%d draws, p99 %v, which is %.1f times the quiet %v, longest %v after a quiet %v",
		l.requests, l.p99.Round(time.Microsecond), float64(l.p99)/float64(max(1, g.quiet.p99)), g.quiet.p99.Round(time.Microsecond),
		l.most.Round(100*time.Microsecond), g.quiet.most.Round(100*time.Microsecond))
}
