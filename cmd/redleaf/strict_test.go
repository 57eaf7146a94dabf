package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redleaf/alloc/sqlstore/faultnet"
	"redleaf/alloc/sqlstore/mariadbtest"
)

// strictNode is a node of three, with its own way to the database.
type strictNode struct {
	*process
	proxy *faultnet.Proxy
	args  []string
}

// strictWorld is three nodes, and clients that all draw from one strict tag, each from its node whatever that says.
type strictWorld struct {
	t       *testing.T
	nodes   []*strictNode
	work    sync.WaitGroup
	stop    chan struct{}
	armed   atomic.Bool  // the tag is strict
	highest atomic.Int64 // id that anybody got
	drawn   atomic.Int64
	moved   atomic.Int64 // refusals that name another node, or ask for patience
	failed  atomic.Int64 // draws that failed a client in cluster mode
	latest  atomic.Int64 // Unix nanoseconds when an id came last
	longest atomic.Int64 // without any
}

// In which order who draws: a request that is sent after another client got an id gets a higher one, through nodes that are
// killed, paused for longer than any lease, cut off from the database, drained and started.
func TestStrict(t *testing.T) {
	db := mariadbtest.Start(t)
	for _, mode := range []string{"plain", "cluster"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			args := []string{"--auto-create", "--step", "50", "--segment-duration", "1s", "--max-step", "2000"}
			if mode == "cluster" {
				args = append(args, "--cluster")
			}
			w := newStrictWorld(t, db, db.Database(t), args)
			w.run(mode == "cluster")
		})
	}
}

func newStrictWorld(t *testing.T, db *mariadbtest.Server, store string, args []string) *strictWorld {
	w := &strictWorld{t: t, stop: make(chan struct{})}
	for range 3 {
		proxy, err := faultnet.Start(db.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(proxy.Close)
		n := &strictNode{proxy: proxy, args: append([]string{"--store", strings.Replace(store, db.Addr(), proxy.Addr(), 1)}, args...)}
		n.start(t)
		n.args = append(n.args, "--listen", n.addr)
		w.nodes = append(w.nodes, n)
	}
	return w
}

func (n *strictNode) start(t *testing.T) { n.process = startProcess(t, n.args...) }

func (w *strictWorld) run(cluster bool) {
	for _, n := range w.nodes {
		for range 2 {
			w.work.Go(func() { w.drawAt(n.addr) })
		}
	}
	if cluster {
		w.work.Go(w.drawByMap)
	}
	defer func() {
		close(w.stop)
		w.work.Wait()
		w.t.Logf("%d ids; %d refusals; %d failures by the map; longest time without an id %v",
			w.drawn.Load(), w.moved.Load(), w.failed.Load(), time.Duration(w.longest.Load()))
	}()
	w.awaitIDs("at first")
	time.Sleep(4 * time.Second) // until the nodes know each other
	w.makeStrict()
	w.event("paused", w.pauseHolder)
	w.event("killed", w.killHolder)
	w.event("cut off", w.cutHolder)
	failed := w.failed.Load()
	w.event("drained", w.drainHolder)
	w.event("restarted one by one", w.restartAll)
	if n := w.failed.Load() - failed; n > 0 {
		w.t.Errorf("%d draws of a client in cluster mode failed because of what is planned", n)
	}
}

// makeStrict says HSET; from its OK on order counts.
func (w *strictWorld) makeStrict() {
	askNode(w.t, w.nodes[0].addr, "HSET", "segment:t", "strict", "1")
	w.armed.Store(true)
}

// askNode sends a command and returns the reply's text.
func askNode(t *testing.T, addr string, args ...any) string {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer c.Close()
	reply, err := c.Do(t.Context(), args...).Result()
	for range 20 { // once a connection, and at most ten times a second, a cluster's node asks its client to read the map
		if err == nil || !strings.HasPrefix(err.Error(), "MOVED") {
			break
		}
		reply, err = c.Do(t.Context(), args...).Result()
	}
	if err != nil {
		t.Fatalf("%v at %s: %v", args, addr, err)
	}
	return fmt.Sprint(reply)
}

// event does something to the nodes and waits until ids come again.
func (w *strictWorld) event(name string, do func()) {
	w.t.Helper()
	w.longest.Store(0)
	before := w.drawn.Load()
	do()
	w.awaitIDs(name)
	w.t.Logf("%s: %d ids, none for up to %v", name, w.drawn.Load()-before, time.Duration(w.longest.Load()).Round(10*time.Millisecond))
}

// awaitIDs waits for 100 more ids.
func (w *strictWorld) awaitIDs(name string) {
	w.t.Helper()
	want := w.drawn.Load() + 100
	for end := time.Now().Add(20 * time.Second); w.drawn.Load() < want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s: no ids come", name)
		}
	}
}

// holder returns the node that serves the tag.
func (w *strictWorld) holder() *strictNode {
	w.t.Helper()
	for range 100 {
		for _, ask := range w.nodes {
			addr := askNode(w.t, ask.addr, "HGET", "segment:t", "holder")
			for _, n := range w.nodes {
				if n.addr == addr {
					return n
				}
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.t.Fatal("nobody serves the tag")
	return nil
}

func (w *strictWorld) pauseHolder() {
	n := w.holder()
	n.cmd.Process.Signal(syscall.SIGSTOP)
	w.awaitIDs("while one is paused")
	time.Sleep(3 * time.Second)
	n.cmd.Process.Signal(syscall.SIGCONT)
	time.Sleep(4 * time.Second) // until it is a node like others
}

func (w *strictWorld) killHolder() {
	n := w.holder()
	n.kill()
	w.awaitIDs("after one was killed")
	time.Sleep(4 * time.Second) // a restart at once would hide that it is gone
	n.start(w.t)
	time.Sleep(4 * time.Second)
}

func (w *strictWorld) cutHolder() {
	n := w.holder()
	n.proxy.Set(faultnet.Blackhole)
	time.Sleep(5 * time.Second)
	w.awaitIDs("while one is cut off")
	n.proxy.Set(faultnet.Pass)
	n.proxy.Reset()
	time.Sleep(4 * time.Second) // until it is a node like others
}

func (w *strictWorld) drainHolder() {
	n := w.holder()
	if status := n.stop(w.t); status != 0 {
		w.t.Errorf("a drained node exited with %d", status)
	}
	n.start(w.t)
	time.Sleep(4 * time.Second)
}

func (w *strictWorld) restartAll() {
	for _, n := range w.nodes {
		n.stop(w.t)
		n.start(w.t)
		time.Sleep(4 * time.Second)
	}
}

// got checks an id that came for a request which was sent when the highest was before.
func (w *strictWorld) got(id, before int64, armed bool, addr string) {
	if armed && id <= before {
		w.t.Errorf("%d came from %s for a request sent after somebody had got %d", id, addr, before)
	}
	for now := w.highest.Load(); id > now && !w.highest.CompareAndSwap(now, id); now = w.highest.Load() {
	}
	w.drawn.Add(1)
	at := time.Now().UnixNano()
	if last := w.latest.Swap(at); last != 0 {
		for gap, now := at-last, w.longest.Load(); gap > now && !w.longest.CompareAndSwap(now, gap); now = w.longest.Load() {
		}
	}
}

func (w *strictWorld) stopped() bool {
	select {
	case <-w.stop:
		return true
	default:
		return false
	}
}

// drawAt draws at one node, in pipelines of one to three, whatever it answers.
func (w *strictWorld) drawAt(addr string) {
	for !w.stopped() {
		if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			w.drawOver(conn, addr)
			conn.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (w *strictWorld) drawOver(conn net.Conn, addr string) {
	in := bufio.NewReader(conn)
	for n := 1; !w.stopped(); n = n%3 + 1 {
		conn.SetDeadline(time.Now().Add(20 * time.Second)) // longer than a pause
		armed, before := w.armed.Load(), w.highest.Load()
		if _, err := conn.Write([]byte(strings.Repeat("INCR segment:t\r\n", n))); err != nil {
			return
		}
		for range n {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if !w.reply(strings.TrimSpace(line), before, armed, addr) {
				return
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// reply takes a reply in, and reports whether it is one of those that may come.
func (w *strictWorld) reply(line string, before int64, armed bool, addr string) bool {
	if id, err := strconv.ParseInt(strings.TrimPrefix(line, ":"), 10, 64); err == nil {
		w.got(id, before, armed, addr)
		return true
	}
	switch word, _, _ := strings.Cut(line, " "); word {
	case "-MOVED", "-READONLY", "-TRYAGAIN":
		w.moved.Add(1)
		return true
	}
	w.t.Errorf("%s answered %q", addr, line)
	return false
}

// drawByMap draws as programs do in cluster mode.
func (w *strictWorld) drawByMap() {
	var addrs []string
	for _, n := range w.nodes {
		addrs = append(addrs, n.addr)
	}
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	defer c.Close()
	for !w.stopped() {
		armed, before := w.armed.Load(), w.highest.Load()
		id, err := c.Incr(context.Background(), "segment:t").Result()
		if err != nil {
			w.failed.Add(1)
			w.t.Log("in cluster mode: ", err)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		w.got(id, before, armed, "the map")
		time.Sleep(2 * time.Millisecond)
	}
}
