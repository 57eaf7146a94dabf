package peers

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	bwmarrin "github.com/bwmarrin/snowflake"
	godruoyi "github.com/godruoyi/go-snowflake"
	"github.com/rs/xid"
	"github.com/sony/sonyflake"
	sonyflake2 "github.com/sony/sonyflake/v2"

	"redleaf/alloc"
	"redleaf/snowflake"
)

// A library makes what draws n ids. Where a library has no call for several, that is n calls.
type library struct {
	name string
	open func(b *testing.B) (draw func(n int64) error)
}

// libraries lists what is compared. Some have limits by design: sonyflake gives out 25,600 ids a second, bwmarrin,
// godruoyi and one worker of redleaf 4,096,000. redleaf with 512 workers shows what its generator itself costs.
func libraries() []library {
	return []library{
		{"mutex", openMutex},
		{"redleaf-segment", openSegment},
		{"redleaf-snowflake", func(b *testing.B) func(int64) error { return openSnowflake(b, 1) }},
		{"redleaf-snowflake-512", func(b *testing.B) func(int64) error { return openSnowflake(b, 512) }},
		{"bwmarrin", openBwmarrin},
		{"godruoyi", openGodruoyi},
		{"sonyflake", openSonyflake},
		{"sonyflake2", openSonyflake2},
		{"xid", func(*testing.B) func(int64) error { return each(func() error { xid.New(); return nil }) }},
	}
}

// BenchmarkDraw draws b.N ids: time per operation is time per id.
func BenchmarkDraw(b *testing.B) {
	for _, lib := range libraries() {
		for _, ids := range []int64{1, 1000} {
			for _, goroutines := range []int{1, 2} {
				b.Run(fmt.Sprintf("lib=%s/ids=%d/goroutines=%d", lib.name, ids, goroutines), func(b *testing.B) {
					share(b, lib.open(b), ids, goroutines)
				})
			}
		}
	}
}

// share has goroutines draw b.N ids together, so many in a call.
func share(b *testing.B, draw func(int64) error, ids int64, goroutines int) {
	var all sync.WaitGroup
	each := (int64(b.N) + int64(goroutines) - 1) / int64(goroutines)
	b.ResetTimer()
	for range goroutines {
		all.Go(func() {
			for left := each; left > 0; left -= ids {
				if err := draw(min(ids, left)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// each turns a call for one id into one for several.
func each(one func() error) func(int64) error {
	return func(n int64) error {
		for range n {
			if err := one(); err != nil {
				return err
			}
		}
		return nil
	}
}

// openMutex is the yardstick: a counter behind a lock.
func openMutex(*testing.B) func(int64) error {
	var mu sync.Mutex
	var last int64
	return each(func() error {
		mu.Lock()
		last++
		mu.Unlock()
		return nil
	})
}

// openSegment draws from segments as large as those of a busy tag.
func openSegment(b *testing.B) func(int64) error {
	a := alloc.New(alloc.NewMemStore(), alloc.Config{AutoCreate: true, Step: 1_000_000, SegmentDuration: time.Nanosecond})
	b.Cleanup(func() { _, _ = a.Close(context.Background()) })
	name := []byte("orders")
	return func(n int64) error {
		for n > 0 {
			_, got := a.Take(name, n)
			if got == 0 { // at the end of a segment
				return a.Draw(context.Background(), "orders", n, func(int64, int64) {})
			}
			n -= got
		}
		return nil
	}
}

func openSnowflake(b *testing.B, workers int) func(int64) error {
	windows := snowflake.NewMemWindows(func() int64 { return time.Now().UnixMilli() })
	node, err := snowflake.Start(b.Context(), windows, snowflake.Config{Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = node.Close(context.Background()) })
	return func(n int64) error {
		return node.Draw(context.Background(), n, func(int64, int64) {})
	}
}

func openBwmarrin(b *testing.B) func(int64) error {
	node, err := bwmarrin.NewNode(1)
	if err != nil {
		b.Fatal(err)
	}
	return each(func() error { node.Generate(); return nil })
}

func openGodruoyi(*testing.B) func(int64) error {
	return each(func() error {
		_, err := godruoyi.NextID()
		return err
	})
}

func openSonyflake(b *testing.B) func(int64) error {
	node, err := sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
	if err != nil {
		b.Fatal(err)
	}
	return each(func() error {
		_, err := node.NextID()
		return err
	})
}

func openSonyflake2(b *testing.B) func(int64) error {
	node, err := sonyflake2.New(sonyflake2.Settings{MachineID: func() (int, error) { return 1, nil }})
	if err != nil {
		b.Fatal(err)
	}
	return each(func() error {
		_, err := node.NextID()
		return err
	})
}
