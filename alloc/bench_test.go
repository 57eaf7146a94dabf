package alloc

import (
	"context"
	"sync"
	"testing"
	"time"
)

// BenchmarkMutex is the yardstick: an uncontended lock and unlock.
func BenchmarkMutex(b *testing.B) {
	var mu sync.Mutex
	for b.Loop() {
		mu.Lock()
		//nolint:staticcheck // the empty section is what is measured
		mu.Unlock()
	}
}

// BenchmarkDraw draws b.N ids of one tag; time per operation is time per id. The step is at its cap, so that refills are
// as rare as on a busy tag.
func BenchmarkDraw(b *testing.B) {
	for _, bb := range []struct {
		name       string
		goroutines int
		batch      int64
	}{{"single", 1, 1}, {"single-2", 2, 1}, {"batch1000", 1, 1000}, {"batch1000-2", 2, 1000}} {
		b.Run(bb.name, func(b *testing.B) {
			a := New(NewMemStore(), Config{AutoCreate: true, Step: 1_000_000, SegmentDuration: time.Nanosecond})
			defer a.Close(context.Background())
			var all sync.WaitGroup
			each := int64(b.N)/int64(bb.goroutines) + 1
			b.ResetTimer()
			for range bb.goroutines {
				all.Go(func() { drawEach(b, a, each, bb.batch) })
			}
			all.Wait()
		})
	}
}

// drawEach draws n ids in batches, as a server does: Take, and Draw when that has none.
func drawEach(b *testing.B, a *Allocator, n, batch int64) {
	name := []byte("orders")
	for n > 0 {
		_, got := a.Take(name, min(n, batch))
		if got == 0 {
			got = min(n, batch)
			if err := a.Draw(context.Background(), "orders", got, func(int64, int64) {}); err != nil {
				b.Error(err)
				return
			}
		}
		n -= got
	}
}
