package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redleaf/alloc/sqlstore/faultnet"
	"redleaf/alloc/sqlstore/mariadbtest"
)

// failover is a primary with an asynchronous replica, behind an address that leads to one of them, and nodes under load.
type failover struct {
	t       *testing.T
	pair    mariadbtest.Pair
	proxy   *faultnet.Proxy
	args    []string
	nodes   []*process
	clients []*drawer
	lives   []atomic.Int64
	stop    context.CancelFunc
	drawing sync.WaitGroup

	lastLost int64 // of the ids of orders that were issued in the tail that is lost
}

// startFailover starts nodes with the arguments and has clients draw from them.
func startFailover(t *testing.T, nodes int, args ...string) *failover {
	f := &failover{t: t, pair: mariadbtest.StartPair(t)}
	url := f.pair.Primary.Database(t)
	proxy, err := faultnet.Start(f.pair.Primary.Addr())
	if err != nil {
		t.Fatal(err)
	}
	f.proxy = proxy
	t.Cleanup(proxy.Close)
	f.args = append([]string{"--auto-create", "--store", mariadbtest.Through(t, url, proxy.Addr()), "--failover-wait", "3s", "--window", "2s"}, args...)
	for range nodes {
		f.nodes = append(f.nodes, startProcess(t, f.args...))
	}
	f.pair.Await(t, url, "SELECT COUNT(*) FROM leaf_worker")
	var ctx context.Context
	ctx, f.stop = context.WithCancel(t.Context())
	t.Cleanup(func() {
		f.stop()
		f.drawing.Wait()
	})
	f.lives = make([]atomic.Int64, nodes)
	for i := range 2 * nodes {
		d := newDrawer(i%nodes, f.nodes[i%nodes].addr)
		t.Cleanup(d.close)
		f.clients = append(f.clients, d)
		f.drawing.Go(func() { d.draw(ctx, &f.lives[d.node]) })
	}
	return f
}

// happen stops replication, lets the nodes lease what will be lost, and fails over.
func (f *failover) happen(die ...*process) {
	f.t.Helper()
	pauseUntil(f.t.Context(), time.Second)
	f.pair.StopReplication(f.t)
	f.lastLost = f.reserve(f.nodes[0].addr)
	pauseUntil(f.t.Context(), 1500*time.Millisecond)
	for _, p := range die {
		p.kill()
	}
	f.pair.Primary.Kill()
	f.pair.Promote(f.t)
	f.proxy.Switch(f.pair.Replica.Addr())
	f.proxy.Reset()
}

// reserved is how many ids of orders a node issues in the tail that is lost, whatever the load brings.
const reserved = 1_000_000

// reserve draws so many ids of orders and returns the last.
func (f *failover) reserve(addr string) int64 {
	f.t.Helper()
	last, err := strconv.ParseInt(redisCLI(f.t, addr, "INCRBY", "segment:orders", itoa(reserved)), 10, 64)
	if err != nil {
		f.t.Fatal(err)
	}
	return last
}

// awaitAgreement waits until each node leases again.
func (f *failover) awaitAgreement(nodes ...*process) {
	f.t.Helper()
	deadline := time.Now().Add(40 * time.Second)
	for _, p := range nodes {
		for !strings.Contains(p.logged(), "leasing goes on") {
			if !time.Now().Before(deadline) {
				f.t.Fatalf("node at %s does not lease again", p.addr)
			}
			pauseUntil(f.t.Context(), 50*time.Millisecond)
		}
	}
}

// drawMore has both kinds drawn from each node, beyond what it owned.
func (f *failover) drawMore(nodes ...*process) {
	f.t.Helper()
	for _, p := range nodes {
		for _, command := range [][]string{{"INCRBY", "segment:orders", "500000"}, {"INCRBY", "segment:late", "500000"}, {"GET", "snowflake:x"}} {
			deadline := time.Now().Add(40 * time.Second)
			for {
				answer := redisCLI(f.t, p.addr, command...)
				if answer != "" && strings.Trim(answer, "0123456789") == "" {
					break
				}
				if !time.Now().Before(deadline) {
					f.t.Fatalf("%v: %s", command, answer)
				}
				pauseUntil(f.t.Context(), 200*time.Millisecond)
			}
		}
	}
}

// check ends the load and looks at every id.
func (f *failover) check() {
	f.t.Helper()
	pauseUntil(f.t.Context(), 2*time.Second)
	f.stop()
	f.drawing.Wait()
	checkAllUnique(f.t, f.clients)
}

// Replication had stopped when the primary died. All nodes live: they agree, and nothing repeats, however small the gap.
func TestFailoverWithAllNodesAlive(t *testing.T) {
	f := startFailover(t, 3, "--failover-gap", "1", "--failover-wait", "6s")
	f.happen()
	f.awaitAgreement(f.nodes...)
	f.drawMore(f.nodes...)
	f.check()
	f.drawMore(startProcess(t, f.args...))
}

// A node dies with the primary: what it leased in the lost tail is in the gap.
func TestFailoverWithADeadNode(t *testing.T) {
	f := startFailover(t, 3, "--failover-gap", "1000000000")
	f.lives[0].Add(1)
	f.happen(f.nodes[0])
	f.awaitAgreement(f.nodes[1:]...)
	f.drawMore(f.nodes[1:]...)
	f.nodes[0] = startProcess(t, append([]string{"--listen", f.nodes[0].addr}, f.args...)...)
	f.drawMore(f.nodes[0])
	f.check()
}

// These failovers do lose what was leased: with the new server trusted, a new node repeats ids.
func TestFailoverTrustedInVain(t *testing.T) {
	f := startFailover(t, 2, "--on-failover", "trust")
	f.happen(f.nodes...)
	f.stop()
	f.drawing.Wait()
	first := f.reserve(startProcess(t, f.args...).addr) - reserved + 1
	if first > f.lastLost {
		t.Errorf("nothing was lost: %d follows %d, and the tests of failovers prove nothing", first, f.lastLost)
	}
}

// With --on-failover stop what is owned is served, then clients get MISCONF until the recovery is run; a node that starts
// before refuses.
func TestFailoverStops(t *testing.T) {
	f := startFailover(t, 2, "--on-failover", "stop")
	f.happen()
	deadline := time.Now().Add(20 * time.Second)
	for answer := ""; !strings.HasPrefix(answer, "MISCONF"); {
		answer = redisCLI(t, f.nodes[0].addr, "INCRBY", "segment:orders", "1000000")
		if time.Now().After(deadline) {
			t.Fatalf("after the failover: %s", answer)
		}
	}
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--store-timeout", "1s"}, f.args...)
	if _, stderr, status := command(t, t.TempDir(), args...); status == 0 || !strings.Contains(stderr, "redleaf recover") {
		t.Errorf("a new node: exit status %d\n%s", status, stderr)
	}
	store := f.args[slices.Index(f.args, "--store")+1]
	recovery := []string{"recover", "--store", store, "--gap", "1000000000", "--window", "2s", "--failover-wait", "3s"}
	if out, stderr, status := command(t, t.TempDir(), recovery...); status != 0 {
		t.Fatalf("recover: exit status %d\n%s%s", status, out, stderr)
	}
	f.awaitAgreement(f.nodes...)
	f.drawMore(f.nodes...)
	f.check()
	f.drawMore(startProcess(t, f.args...))
}
