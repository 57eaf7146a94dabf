// Package windowstest is the conformance suite of snowflake.Windows: what every store of worker windows must do.
package windowstest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redleaf/snowflake"
)

// Handles returns handles on one store, as many as it is called; each may be a connection or a process of its own.
type Handles func() snowflake.Windows

// Run checks a kind of store; open makes a new, empty one.
func Run(t *testing.T, open func(t *testing.T) Handles) {
	tests := []struct {
		name string
		test func(*testing.T, Handles)
	}{
		{"first claim and extension", testClaimAndExtend},
		{"stale token", testStaleToken},
		{"lost reply", testLostReply},
		{"release", testRelease},
		{"one winner among many", testOneWinner},
		{"rows by range", testWorkersByRange},
		{"ended context", testEndedContext},
		{"clock", testClock},
		{"layout", testLayout},
		{"layouts recorded at once", testLayoutsAtOnce},
		{"64 nodes at once", testNodesAtOnce},
		{"more claims than ids", testAllTaken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

func row(id int, token, until int64) snowflake.Worker {
	return snowflake.Worker{ID: id, Token: token, Owner: "node", Addr: "127.0.0.1:6379", Until: until}
}

func mustSwap(t *testing.T, w snowflake.Windows, old int64, to snowflake.Worker) {
	t.Helper()
	if err := w.Swap(t.Context(), old, to); err != nil {
		t.Fatalf("Swap(%d, %+v): %v", old, to, err)
	}
}

func mustLose(t *testing.T, w snowflake.Windows, old int64, to snowflake.Worker) {
	t.Helper()
	if err := w.Swap(t.Context(), old, to); !errors.Is(err, snowflake.ErrSwapped) {
		t.Fatalf("Swap(%d, %+v): %v, want ErrSwapped", old, to, err)
	}
}

func mustHold(t *testing.T, w snowflake.Windows, want ...snowflake.Worker) {
	t.Helper()
	got, err := w.Workers(t.Context(), 0, 1<<20)
	if err != nil {
		t.Fatalf("Workers: %v", err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("rows %+v, want %+v", got, want)
	}
}

func testClaimAndExtend(t *testing.T, open Handles) {
	a, b := open(), open()
	mustHold(t, a)
	mustSwap(t, a, 0, row(7, 100, 5000))
	mustHold(t, b, row(7, 100, 5000))
	mustSwap(t, a, 100, row(7, -1<<63, 6000))
	mustSwap(t, b, -1<<63, row(7, 1<<63-1, 1<<62))
	mustHold(t, a, row(7, 1<<63-1, 1<<62))
}

func testStaleToken(t *testing.T, open Handles) {
	a, b := open(), open()
	mustSwap(t, a, 0, row(0, 1, 5000))
	mustLose(t, b, 0, row(0, 2, 9000)) // there is a row by now
	mustLose(t, b, 9, row(0, 2, 9000))
	mustLose(t, b, 9, row(1, 2, 9000)) // there is no such row
	mustSwap(t, b, 1, row(0, 2, 6000))
	mustLose(t, a, 1, row(0, 3, 7000)) // an extension that comes too late
	mustHold(t, a, row(0, 2, 6000))
}

// A write whose reply was lost has happened all the same: sent again, it finds another token.
func testLostReply(t *testing.T, open Handles) {
	a := open()
	mustSwap(t, a, 0, row(3, 1, 5000))
	mustLose(t, a, 0, row(3, 2, 5000))
	mustSwap(t, a, 1, row(3, 4, 6000))
	mustLose(t, a, 1, row(3, 4, 6000))
	mustHold(t, a, row(3, 4, 6000))
}

func testRelease(t *testing.T, open Handles) {
	a, b := open(), open()
	mustSwap(t, a, 0, row(3, 1, 5000))
	mustSwap(t, a, 1, row(3, 2, 4000))
	mustSwap(t, b, 2, row(3, 5, 8000))
	mustLose(t, a, 1, row(3, 6, 4000)) // released twice
	mustLose(t, a, 2, row(3, 6, 4000))
	mustHold(t, b, row(3, 5, 8000))
}

func testOneWinner(t *testing.T, open Handles) {
	handles := []snowflake.Windows{open(), open(), open(), open()}
	for round := range int64(5) {
		var winners atomic.Int64
		var all sync.WaitGroup
		for i := range int64(64) {
			all.Go(func() {
				err := handles[i%4].Swap(t.Context(), round*1000, row(1, (round+1)*1000, 5000+i))
				switch {
				case err == nil:
					winners.Add(1)
				case !errors.Is(err, snowflake.ErrSwapped):
					t.Errorf("Swap: %v", err)
				}
			})
		}
		all.Wait()
		if winners.Load() != 1 {
			t.Fatalf("round %d: %d winners", round, winners.Load())
		}
	}
}

func testWorkersByRange(t *testing.T, open Handles) {
	a := open()
	for _, id := range []int{9, 4, 5, 1023, 0} {
		mustSwap(t, a, 0, row(id, 1, 5000))
	}
	got, err := a.Workers(t.Context(), 4, 9)
	if err != nil {
		t.Fatal(err)
	}
	if want := []snowflake.Worker{row(4, 1, 5000), row(5, 1, 5000), row(9, 1, 5000)}; !slices.Equal(got, want) {
		t.Errorf("Workers(4, 9) = %+v", got)
	}
}

func testEndedContext(t *testing.T, open Handles) {
	a := open()
	mustSwap(t, a, 0, row(0, 1, 5000))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Swap(ctx, 1, row(0, 2, 6000)); err == nil {
		t.Error("Swap succeeded after its context had ended")
	}
	if _, err := a.Workers(ctx, 0, 1); err == nil {
		t.Error("Workers succeeded after its context had ended")
	}
	if _, err := a.Now(ctx); err == nil {
		t.Error("Now succeeded after its context had ended")
	}
	mustHold(t, a, row(0, 1, 5000))
}

func testClock(t *testing.T, open Handles) {
	a := open()
	last := int64(0)
	for range 20 {
		now, err := a.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now < last {
			t.Fatalf("the clock stepped back from %d to %d", last, now)
		}
		last = now
	}
	if d := time.Since(time.UnixMilli(last)).Abs(); d > time.Minute {
		t.Errorf("the store's clock is %v away from this machine's", d)
	}
}

func testLayout(t *testing.T, open Handles) {
	a, b := open(), open()
	l := snowflake.DefaultLayout()
	for _, w := range []snowflake.Windows{a, b, a} {
		if err := w.RecordLayout(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	epoch, bits := l, l
	epoch.Epoch++
	bits.WorkerBits, bits.SequenceBits = bits.WorkerBits+1, bits.SequenceBits-1
	for _, other := range []snowflake.Layout{epoch, bits} {
		if err := b.RecordLayout(t.Context(), other); !errors.Is(err, snowflake.ErrLayout) {
			t.Errorf("RecordLayout(%+v): %v, want ErrLayout", other, err)
		}
	}
}

func testLayoutsAtOnce(t *testing.T, open Handles) {
	layouts := [2]snowflake.Layout{snowflake.DefaultLayout(), snowflake.DefaultLayout()}
	layouts[1].Epoch++
	var accepted [2]atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		w := open()
		all.Go(func() {
			err := w.RecordLayout(t.Context(), layouts[i%2])
			if err == nil {
				accepted[i%2].Add(1)
			} else if !errors.Is(err, snowflake.ErrLayout) {
				t.Errorf("RecordLayout: %v", err)
			}
		})
	}
	all.Wait()
	if a, b := accepted[0].Load(), accepted[1].Load(); a+b != 4 || a*b != 0 {
		t.Errorf("%d and %d starts accepted, want 4 of one layout", a, b)
	}
}

// startNode starts a node that leases one of the worker ids 0 to n-1.
func startNode(t *testing.T, w snowflake.Windows, n int) (*snowflake.Node, error) {
	return snowflake.Start(t.Context(), w, snowflake.Config{Claimable: n, StatementTimeout: 30 * time.Second, MaxSkew: time.Minute})
}

func closeNode(t *testing.T, node *snowflake.Node) {
	if err := node.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func testNodesAtOnce(t *testing.T, open Handles) {
	const nodes = 64
	handles := []snowflake.Windows{open(), open(), open(), open()}
	ids := make(chan int64, nodes*100)
	var all sync.WaitGroup
	for i := range nodes {
		all.Go(func() {
			node, err := startNode(t, handles[i%4], nodes)
			if err != nil {
				t.Errorf("Start: %v", err)
				return
			}
			defer closeNode(t, node)
			err = node.Draw(t.Context(), 100, func(first, n int64) {
				for id := first; id < first+n; id++ {
					ids <- id
				}
			})
			if err != nil {
				t.Errorf("Draw: %v", err)
			}
		})
	}
	all.Wait()
	close(ids)
	seen := map[int64]bool{}
	for id := range ids {
		if seen[id] {
			t.Fatalf("id %d was drawn twice", id)
		}
		seen[id] = true
	}
}

// Every id is leased to one node only, and the claims that are left over fail.
func testAllTaken(t *testing.T, open Handles) {
	const claims, ids, atATime = 1100, 1024, 16
	w := open()
	var failed atomic.Int64
	nodes := make(chan *snowflake.Node, claims)
	tickets := make(chan struct{}, claims)
	for range claims {
		tickets <- struct{}{}
	}
	close(tickets)
	var all sync.WaitGroup
	for range atATime {
		all.Go(func() {
			for range tickets {
				node, err := startNode(t, w, ids)
				switch {
				case err == nil:
					nodes <- node
				case errors.Is(err, snowflake.ErrNoWorker):
					failed.Add(1)
				default:
					t.Errorf("Start: %v", err)
				}
			}
		})
	}
	all.Wait()
	close(nodes)
	holders := map[int]int{}
	for node := range nodes {
		for _, held := range node.Status().Workers {
			holders[held.ID]++
		}
		closeNode(t, node)
	}
	if failed.Load() != claims-ids || len(holders) != ids {
		t.Errorf("%d claims failed and %d ids are held, want %d and %d", failed.Load(), len(holders), claims-ids, ids)
	}
	for id, n := range holders {
		if n > 1 {
			t.Errorf("worker id %d is held by %d nodes", id, n)
		}
	}
}
