package snowflake

import (
	"context"
	"sync"
	"testing"
	"time"
)

func newBenchNode(b *testing.B, workers int) *Node {
	b.Helper()
	n, err := Start(b.Context(), NewMemWindows(func() int64 { return time.Now().UnixMilli() }), Config{Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { n.Close(context.Background()) })
	return n
}

// BenchmarkMutex is the yardstick: an uncontended lock and unlock.
func BenchmarkMutex(b *testing.B) {
	var mu sync.Mutex
	for b.Loop() {
		mu.Lock()
		//nolint:staticcheck // the empty section is what is measured
		mu.Unlock()
	}
}

// drawIDs draws b.N ids in batches from g goroutines; time per operation is time per id.
func drawIDs(b *testing.B, n *Node, goroutines int, batch int64) {
	var all sync.WaitGroup
	each := int64(b.N)/int64(goroutines) + 1
	b.ResetTimer()
	for range goroutines {
		all.Go(func() {
			for left := each; left > 0; {
				k := min(left, batch)
				if err := n.Draw(context.Background(), k, func(int64, int64) {}); err != nil {
					b.Error(err)
					return
				}
				left -= k
			}
		})
	}
	all.Wait()
}

// With one worker id the layout, 4,096 ids a millisecond, is the limit: 244 ns an id at most. 64 worker ids show the
// generator's own cost.
func BenchmarkDraw(b *testing.B) {
	for _, bb := range []struct {
		name       string
		workers    int
		goroutines int
		batch      int64
	}{
		{"single", 64, 1, 1}, {"single-2", 64, 2, 1},
		{"batch1000", 64, 1, 1000}, {"batch1000-2", 64, 2, 1000},
		{"one-worker-single", 1, 1, 1}, {"one-worker-batch1000", 1, 1, 1000},
	} {
		b.Run(bb.name, func(b *testing.B) {
			drawIDs(b, newBenchNode(b, bb.workers), bb.goroutines, bb.batch)
		})
	}
}
