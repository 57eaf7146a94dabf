package alloc_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redleaf/alloc"
)

// distant returns a store whose leases take a round trip.
func distant(roundTrip time.Duration) *hooked {
	mem := alloc.NewMemStore()
	return &hooked{mem, func(ctx context.Context, tag string, n int64) (alloc.Range, error) {
		time.Sleep(roundTrip / 2)
		r, err := mem.Lease(ctx, tag, n)
		time.Sleep(roundTrip / 2)
		return r, err
	}}
}

// A new tag of the default step under the full load that a pipelining client can bring, 35 million ids a second, on a
// store 1 and 20 ms away: after a few refills no call waits for the store any more.
func TestFullLoadFromAColdStart(t *testing.T) {
	for _, roundTrip := range []time.Duration{time.Millisecond, 20 * time.Millisecond} {
		t.Run(fmt.Sprint(roundTrip), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := started(t, distant(roundTrip))
				drawForMs := func(ms int) {
					for range ms {
						draws(t, a, "orders", 35_000)
						time.Sleep(time.Millisecond)
					}
				}
				drawForMs(500)
				before, err := a.Status(t.Context(), "orders")
				if err != nil {
					t.Fatal(err)
				}
				drawForMs(2000)
				after, err := a.Status(t.Context(), "orders")
				if err != nil {
					t.Fatal(err)
				}
				if before.Waits > 12 {
					t.Errorf("%d calls waited in the first half second", before.Waits)
				}
				if after.Waits != before.Waits {
					t.Errorf("%d calls waited later on", after.Waits-before.Waits)
				}
				t.Logf("%d calls waited, %d refills at first, %d later; %d ids at hand at the end", before.Waits, before.Refills, after.Refills-before.Refills, after.Left+after.Next)
			})
		})
	}
}

// draws draws n ids without looking at them.
func draws(t *testing.T, a *alloc.Allocator, tag string, n int64) {
	t.Helper()
	for n > 0 {
		_, got := a.Take([]byte(tag), n)
		if got == 0 {
			got = n
			if err := a.Draw(t.Context(), tag, n, func(int64, int64) {}); err != nil {
				t.Fatal(err)
			}
		}
		n -= got
	}
}

// A slow tag keeps Leaf's behaviour: one segment at hand, and one more once a tenth of it is used.
func TestSlowTagsKeepOneSegmentAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, distant(20*time.Millisecond), func(c *alloc.Config) { c.MaxStep = 1000 })
		for range 5000 {
			draws(t, a, "orders", 1)
			time.Sleep(10 * time.Millisecond)
			status, err := a.Status(t.Context(), "orders")
			if err != nil {
				t.Fatal(err)
			}
			if status.Left+status.Next > 2000 || status.Next > 1000 {
				t.Fatalf("%+v", status)
			}
		}
	})
}

// However fast ids go, what is leased ahead is bounded: a crash loses that much.
func TestLeasedAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := started(t, distant(500*time.Millisecond), func(c *alloc.Config) { c.MaxStep = 1000; c.Wait = time.Minute })
		for range 3000 {
			draws(t, a, "orders", 50)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		status, err := a.Status(t.Context(), "orders")
		if err != nil || status.Next > 8*1000 {
			t.Errorf("%+v, %v", status, err)
		}
	})
}
