package main

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const restartsFlag = "redleaf.restarts"

// A lone node that is stopped in order under load leaves no gap; killed in between, at any moment, it repeats nothing. Its
// worker ids do not run out.
func TestRestarts(t *testing.T) {
	times := flag.Lookup(restartsFlag).Value.(flag.Getter).Get().(int)
	forEachStore(t, func(t *testing.T, store string) {
		r := newRestarts(t, store)
		r.during(func() {
			for range times / 2 {
				time.Sleep(rand.N(200 * time.Millisecond))
				if status := r.node.stop(t); status != 0 {
					t.Fatalf("exit status %d after SIGTERM\n%s", status, r.node.logged())
				}
				r.start()
			}
		})
		r.checkNoGap()
		r.during(func() {
			for range times - times/2 {
				time.Sleep(rand.N(200 * time.Millisecond))
				r.killSomehow()
				r.start()
			}
		})
		checkAllUnique(t, r.clients)
		t.Logf("%d restarts, %d ids; the slowest took %v to serve", times, r.received(), r.slowest)
	})
}

// restarts is a node that is started again and again on one address, and its clients.
type restarts struct {
	t       *testing.T
	args    []string
	node    *process
	life    atomic.Int64
	clients []*drawer
	slowest time.Duration // from the start of the process until it served
}

func newRestarts(t *testing.T, store string) *restarts {
	r := &restarts{t: t, args: []string{"--init", "--auto-create", "--step", "50", "--store", store}}
	r.start()
	r.args = append(r.args, "--listen", r.node.addr)
	for range 4 {
		d := newDrawer(0, r.node.addr)
		t.Cleanup(d.close)
		r.clients = append(r.clients, d)
	}
	return r
}

func (r *restarts) start() {
	begun := time.Now()
	r.life.Add(1)
	r.node = startProcess(r.t, r.args...)
	r.slowest = max(r.slowest, time.Since(begun))
}

// during has the clients draw while something happens.
func (r *restarts) during(what func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	var drawing sync.WaitGroup
	for _, d := range r.clients {
		drawing.Go(func() { d.draw(ctx, &r.life) })
	}
	what()
	time.Sleep(100 * time.Millisecond) // the last life draws too
	cancel()
	drawing.Wait()
}

// killSomehow kills the node: as it serves, as it stops, or another one as it starts.
func (r *restarts) killSomehow() {
	switch rand.IntN(3) {
	case 0:
		r.node.kill()
	case 1:
		r.node.cmd.Process.Signal(syscall.SIGTERM)
		time.Sleep(rand.N(30 * time.Millisecond))
		r.node.kill()
	case 2:
		r.node.kill()
		starting, _, err := begin(r.t.TempDir(), binary(r.t), r.args...)
		if err != nil {
			r.t.Fatal(err)
		}
		time.Sleep(rand.N(100 * time.Millisecond))
		starting.kill()
	}
}

func (r *restarts) received() (ids int) {
	for _, d := range r.clients {
		for _, of := range d.ids {
			ids += len(of)
		}
	}
	return ids
}

// checkNoGap draws once more, so that ids whose replies were cut off would show, and compares.
func (r *restarts) checkNoGap() {
	r.t.Helper()
	r.clients[0].redial()
	for kind, tag := range tagsDrawn {
		id, err := r.clients[0].client.Incr(r.t.Context(), "segment:"+tag).Result()
		if err != nil {
			r.t.Fatal(err)
		}
		r.clients[0].ids[kind] = append(r.clients[0].ids[kind], id)
		received := int64(0)
		for _, d := range r.clients {
			received += int64(len(d.ids[kind]))
		}
		if id != received {
			r.t.Errorf("tag %s: id %d after %d ids: a gap of %d, after orderly stops", tag, id, received, id-received)
		}
	}
}

// Three nodes are restarted one by one; a client in cluster mode, with the retries that it has by itself, sees no error.
func TestRollingRestart(t *testing.T) {
	store := newMariaDB(t)
	args := []string{"--auto-create", "--cluster", "--store", store}
	var nodes []*process
	var addrs []string
	for range 3 {
		p := startProcess(t, args...)
		nodes, addrs = append(nodes, p), append(addrs, p.addr)
	}
	for _, p := range nodes {
		awaitNodes(t, p.addr, 3)
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	defer client.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var calls, failed atomic.Int64
	var drawing sync.WaitGroup
	ids := make([][]int64, 8)
	for i := range ids {
		drawing.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				calls.Add(1)
				id, err := client.Incr(context.WithoutCancel(ctx), "segment:t"+strconv.Itoa(n%20)).Result()
				if err != nil {
					failed.Add(1)
					t.Error(err)
					return
				}
				if n%20 == 0 { // of one tag all are compared
					ids[i] = append(ids[i], id)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	for i, p := range nodes {
		if status := p.stop(t); status != 0 {
			t.Errorf("exit status %d", status)
		}
		nodes[i] = startProcess(t, append([]string{"--listen", addrs[i]}, args...)...)
		for _, p := range nodes {
			awaitNodes(t, p.addr, 3)
		}
	}
	cancel()
	drawing.Wait()
	all := slices.Concat(ids...)
	slices.Sort(all)
	if once := slices.Compact(slices.Clone(all)); len(once) != len(all) {
		t.Errorf("%d ids came twice", len(all)-len(once))
	}
	t.Logf("%d calls, %d failed", calls.Load(), failed.Load())
}

// awaitNodes waits until the node at addr knows so many live ones.
func awaitNodes(t *testing.T, addr string, want int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); liveNodes(t, addr) != want; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not know %d nodes", addr, want)
		}
	}
}
