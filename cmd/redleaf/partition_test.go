package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redleaf/alloc/sqlstore/mariadbtest"
)

// Addresses of the networks: the bridge in this namespace has the database's, and the clients', and each node its own.
const (
	bridgeAddr   = "10.77.61.254"
	databaseAddr = "10.77.61.253"
)

// network is a bridge with three namespaces on it.
type network struct {
	name  string
	nodes []*process
}

func ip(t *testing.T, args ...string) error {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// newNetwork makes the namespaces, or skips the test where that can't be done.
func newNetwork(t *testing.T) *network {
	t.Helper()
	w := &network{name: fmt.Sprintf("rl%d", os.Getpid()%100000)}
	must := func(args ...string) {
		if err := ip(t, args...); err != nil {
			t.Skip("network namespaces can't be made here: ", err)
		}
	}
	t.Cleanup(func() {
		_ = ip(t, "link", "del", w.name) // it may not have been made
		for i := range 3 {
			_ = ip(t, "netns", "del", w.namespace(i))
		}
	})
	must("link", "add", w.name, "type", "bridge")
	must("addr", "add", bridgeAddr+"/24", "dev", w.name)
	must("addr", "add", databaseAddr+"/24", "dev", w.name)
	must("link", "set", w.name, "up")
	for i := range 3 {
		inside, outside := fmt.Sprintf("%si%d", w.name, i), fmt.Sprintf("%so%d", w.name, i)
		must("netns", "add", w.namespace(i))
		must("link", "add", outside, "type", "veth", "peer", "name", inside)
		must("link", "set", inside, "netns", w.namespace(i))
		must("link", "set", outside, "master", w.name, "up")
		must("-n", w.namespace(i), "addr", "add", w.addr(i)+"/24", "dev", inside)
		must("-n", w.namespace(i), "link", "set", inside, "up")
		must("-n", w.namespace(i), "link", "set", "lo", "up")
	}
	return w
}

func (w *network) namespace(i int) string { return fmt.Sprintf("%sn%d", w.name, i) }
func (w *network) addr(i int) string      { return fmt.Sprintf("10.77.61.%d", i+1) }

// start runs a node in its namespace.
func (w *network) start(t *testing.T, i int, args ...string) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "redleaf")
	text := fmt.Sprintf("#!/bin/sh\nexec ip netns exec %s %s \"$@\"\n", w.namespace(i), binary(t))
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	p, err := launch(t.TempDir(), script, append(args, "--listen", w.addr(i)+":6379")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("log of node %d:\n%s", i, p.logged())
		}
	})
	w.nodes = append(w.nodes, p)
}

// cut takes a node's way to the database away, and nothing else; mend gives it back.
func (w *network) cut(t *testing.T, i int) error {
	return ip(t, "-n", w.namespace(i), "route", "add", "blackhole", databaseAddr+"/32")
}
func (w *network) mend(t *testing.T, i int) error {
	return ip(t, "-n", w.namespace(i), "route", "del", "blackhole", databaseAddr+"/32")
}

// A node that is cut off from the database, and not from its clients, serves what it owns and then refuses; the others
// go on, and take it out of the map; it comes back by itself. No id comes twice.
func TestPartition(t *testing.T) {
	w := newNetwork(t)
	db := mariadbtest.Start(t, "--bind-address=0.0.0.0", "--skip-name-resolve")
	store := strings.Replace(db.Database(t), "127.0.0.1", databaseAddr, 1)
	for i := range 3 {
		w.start(t, i, "--store", store, "--auto-create", "--cluster", "--no-protected-mode", "--http-listen=",
			"--step", "200", "--segment-duration", "1s", "--max-step", "400", "--wait", "200ms", "--window", "4s")
	}
	time.Sleep(4 * time.Second) // until all know of all
	seen := map[string]int{}    // who got the id
	draw := func(d time.Duration) (served, refused [3]int) {
		for end := time.Now().Add(d); time.Now().Before(end); {
			for i, p := range w.nodes {
				s, r := drawSome(t, p.addr, i, seen)
				served[i] += s
				refused[i] += r
			}
		}
		return served, refused
	}
	if served, refused := draw(2 * time.Second); served[2] == 0 || refused != [3]int{} {
		t.Fatalf("before: served %v, refused %v", served, refused)
	}
	if err := w.cut(t, 2); err != nil {
		t.Fatal(err)
	}
	served, refused := draw(10 * time.Second)
	if served[0] == 0 || served[1] == 0 || refused[0]+refused[1] > 0 {
		t.Errorf("the others, while one is cut off: served %v, refused %v", served, refused)
	}
	if served[2] == 0 || refused[2] == 0 {
		t.Errorf("the one that is cut off served %d and refused %d", served[2], refused[2])
	}
	if n := liveNodes(t, w.nodes[0].addr); n != 2 {
		t.Errorf("the others' map has %d nodes", n)
	}
	if err := w.mend(t, 2); err != nil {
		t.Fatal(err)
	}
	time.Sleep(8 * time.Second)
	if served, refused := draw(2 * time.Second); served[2] == 0 || refused != [3]int{} {
		t.Errorf("after: served %v, refused %v", served, refused)
	}
	if n := liveNodes(t, w.nodes[0].addr); n != 3 {
		t.Errorf("the map has %d nodes in the end", n)
	}
	t.Logf("%d ids; while one was cut off: served %v, refused %v", len(seen), served, refused)
}

// drawSome draws a few ids of both kinds on a new connection, and notes who got them.
func drawSome(t *testing.T, addr string, node int, seen map[string]int) (served, refused int) {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer c.Close()
	for n := range 20 {
		key, args := "s", []any{"INCR", "segment:orders"}
		if n%2 == 1 {
			key, args = "f", []any{"GET", "snowflake:x"}
		}
		reply, err := c.Do(t.Context(), args...).Result()
		id := fmt.Sprint(reply)
		switch {
		case err == nil:
			served++
			if other, twice := seen[key+id]; twice {
				t.Fatalf("id %s%s came from node %d and from node %d", key, id, other, node)
			}
			seen[key+id] = node
		case strings.HasPrefix(err.Error(), "MOVED"):
		case strings.HasPrefix(err.Error(), "TRYAGAIN"):
			refused++
			return served, refused
		default:
			t.Fatal(err)
		}
	}
	return served, refused
}

func liveNodes(t *testing.T, addr string) int {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr})
	defer c.Close()
	text, err := c.ClusterNodes(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(text, "\n")
}
