package main

import (
	"context"
	"errors"
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

const (
	crashTestTime    = 10 * time.Second
	crashTestClients = 16
	pipelineDepth    = 50
)

// tagsDrawn are drawn from by every client, so that nodes and connections meet on them.
var tagsDrawn = [...]string{"orders", "messages", "log"}

// kinds are what a client keeps apart: the tags, and snowflake ids.
const kinds = len(tagsDrawn) + 1

// drawer is one client with one connection. It keeps every id that it received.
type drawer struct {
	node   int // which of the nodes it is connected to
	addr   string
	client *redis.Client
	ids    [kinds][]int64
	err    error // an order break or a reply that is no id
}

func newDrawer(node int, addr string) *drawer {
	d := &drawer{node: node, addr: addr}
	d.dial()
	return d
}

func (d *drawer) dial() {
	d.client = redis.NewClient(&redis.Options{
		Addr: d.addr, PoolSize: 1, MaxRetries: -1, DialTimeout: time.Second, ReadTimeout: 5 * time.Second,
		ContextTimeoutEnabled: true,
	})
}

// redial is for after a refused connection: the pool that met it would go on refusing for a second by itself.
func (d *drawer) redial() {
	d.close()
	time.Sleep(time.Millisecond)
	d.dial()
}

func (d *drawer) close() { d.client.Close() }

// draw sends pipelines of all kinds until ctx is done. life tells which life of the node answers: order is promised
// within one.
func (d *drawer) draw(ctx context.Context, life *atomic.Int64) {
	last, lastLife := [kinds]int64{}, int64(0)
	for ctx.Err() == nil && d.err == nil {
		before := life.Load()
		if before != lastLife {
			last, lastLife = [kinds]int64{}, before
		}
		received := d.pipeline(ctx)
		after := life.Load()
		for kind, ids := range received {
			d.ids[kind] = append(d.ids[kind], ids...)
			for _, id := range ids {
				if before == after && id <= last[kind] {
					d.err = errors.New("id " + strconv.FormatInt(id, 10) + " after " + strconv.FormatInt(last[kind], 10))
				}
				last[kind] = max(last[kind], id)
			}
		}
	}
}

// pipeline draws pipelineDepth ids of random kinds in one round trip and returns those received.
func (d *drawer) pipeline(ctx context.Context) (received [kinds][]int64) {
	pipe := d.client.Pipeline()
	var drawn [pipelineDepth]int
	var cmds [pipelineDepth]redis.Cmder
	for i := range cmds {
		drawn[i] = rand.IntN(kinds)
		if drawn[i] < len(tagsDrawn) {
			cmds[i] = pipe.Incr(ctx, "segment:"+tagsDrawn[drawn[i]])
		} else {
			cmds[i] = pipe.Get(ctx, "snowflake:any")
		}
	}
	if _, err := pipe.Exec(ctx); errors.Is(err, syscall.ECONNREFUSED) {
		d.redial()
	}
	for i, cmd := range cmds {
		if id, ok := idOf(cmd); ok {
			received[drawn[i]] = append(received[drawn[i]], id)
		}
	}
	return received
}

// idOf returns the id that a reply carries; a command without a reply carries none.
func idOf(cmd redis.Cmder) (int64, bool) {
	switch cmd := cmd.(type) {
	case *redis.IntCmd:
		return cmd.Val(), cmd.Err() == nil
	case *redis.StringCmd:
		id, err := cmd.Int64()
		return id, err == nil
	}
	return 0, false
}

// Clients pipeline both kinds from two nodes on one MariaDB, or one on SQLite, while one node is killed and started
// again over and over: every id received is kept, and none repeats.
func TestKilledNodesNeverRepeatAnID(t *testing.T) {
	t.Run("mariadb", func(t *testing.T) { testKills(t, 2, newMariaDB(t)) })
	t.Run("sqlite", func(t *testing.T) { testKills(t, 1, newSQLite(t)) })
}

func testKills(t *testing.T, nodes int, store string) {
	args := []string{"--init", "--auto-create", "--store", store}
	ctx, cancel := context.WithTimeout(t.Context(), crashTestTime)
	defer cancel()
	processes := make([]*process, nodes)
	lives := make([]atomic.Int64, nodes)
	for i := range processes {
		processes[i] = startProcess(t, args...)
	}
	var clients []*drawer
	var drawing sync.WaitGroup
	for i := range crashTestClients {
		d := newDrawer(i%nodes, processes[i%nodes].addr)
		defer d.close()
		clients = append(clients, d)
		drawing.Go(func() { d.draw(ctx, &lives[d.node]) })
	}
	kills := killOverAndOver(ctx, t, processes[0], &lives[0], args)
	drawing.Wait()
	if kills < 3 {
		t.Errorf("only %d kills", kills)
	}
	t.Logf("%d kills", kills)
	checkAllUnique(t, clients)
}

// killOverAndOver kills the node at random moments and starts it again on its port until ctx is done.
func killOverAndOver(ctx context.Context, t *testing.T, p *process, life *atomic.Int64, args []string) (kills int) {
	addr := p.addr
	for pauseUntil(ctx, 200*time.Millisecond+rand.N(800*time.Millisecond)) {
		p.kill()
		life.Add(1)
		p = startProcess(t, append([]string{"--listen", addr}, args...)...)
		kills++
	}
	return kills
}

// pauseUntil waits for d and reports whether ctx is still going on.
func pauseUntil(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func checkAllUnique(t *testing.T, clients []*drawer) {
	t.Helper()
	for kind := range kinds {
		var all []int64
		for _, d := range clients {
			if d.err != nil {
				t.Fatalf("client of node %d: %v", d.node, d.err)
			}
			all = append(all, d.ids[kind]...)
		}
		if len(all) < 1000 {
			t.Errorf("kind %d: only %d ids received", kind, len(all))
		}
		slices.Sort(all)
		for i := 1; i < len(all); i++ {
			if all[i] == all[i-1] {
				t.Fatalf("kind %d: id %d was issued twice", kind, all[i])
			}
		}
		t.Logf("kind %d: %d ids, none twice", kind, len(all))
	}
}
