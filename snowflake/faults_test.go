package snowflake_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redleaf/snowflake"
)

// A machine that was suspended: the monotonic clock stood still, wall clock and database are right.
func TestSuspendedMachineGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var slept atomic.Int64 // ms of suspension
		begin := time.Now()
		clock := func() (int64, time.Duration) {
			return wallMs() + slept.Load(), time.Since(begin)
		}
		store := snowflake.NewMemWindows(func() int64 { return wallMs() + slept.Load() })
		n := start(t, store, snowflake.Config{Clock: clock})
		time.Sleep(time.Minute)
		slept.Store(time.Hour.Milliseconds())
		time.Sleep(30 * time.Minute)
		if _, err := drawOne(n); err != nil {
			t.Errorf("30 minutes after the machine woke up, its clock right: %v", err)
		}
	})
}

// Writes that happen while their replies are lost must not use up every worker id for a whole window.
func TestLostRepliesDoNotStrandEveryWorker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var losing atomic.Bool
		mem := newStore()
		store := &hooked{Windows: mem, swap: func(ctx context.Context, old int64, w snowflake.Worker) error {
			err := mem.Swap(ctx, old, w)
			if losing.Load() {
				return errors.New("reply lost")
			}
			return err
		}}
		layout, _ := snowflake.ParseBits("js53", snowflake.DefaultEpoch)
		n := start(t, store, snowflake.Config{Layout: layout})
		time.Sleep(time.Minute)
		losing.Store(true)
		time.Sleep(6 * time.Minute) // past the half of the window;
		losing.Store(false)
		for range 20 {
			time.Sleep(time.Minute)
			if _, err := drawOne(n); err != nil {
				t.Fatalf("the store answers again: %v", err)
			}
		}
	})
}

// A start that is refused for its layout must not record that layout for good.
func TestRefusedLayoutIsNotRecorded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := newStore()
		typo := snowflake.Layout{Epoch: wallMs() + time.Hour.Milliseconds(), TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
		if _, err := snowflake.Start(t.Context(), store, snowflake.Config{Layout: typo}); !errors.Is(err, snowflake.ErrExhausted) {
			t.Fatalf("Start: %v", err)
		}
		n, err := snowflake.Start(t.Context(), store, snowflake.Config{})
		if err != nil {
			t.Fatalf("with the typo mended: %v", err)
		}
		n.Close(context.Background())
	})
}

// A second node with the same fixed worker id on one store must not wait for ever without saying why.
func TestFixedWorkerHeldByALiveNode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := newStore()
		cfg := snowflake.Config{Fixed: true, MinWorker: 3, Owner: "first", Addr: "10.0.0.1:6379"}
		start(t, store, cfg)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		cfg.Owner = "second"
		_, err := snowflake.Start(ctx, store, cfg)
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "10.0.0.1:6379") {
			t.Errorf("after 10 minutes beside a live node with this worker id: %v", err)
		}
	})
}

// When a window runs out, somebody must be told.
func TestEndOfWindowIsLogged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log strings.Builder
		var away atomic.Bool
		mem := newStore()
		store := &hooked{Windows: mem, now: func(ctx context.Context) (int64, error) {
			if away.Load() {
				return 0, errors.New("gone")
			}
			return mem.Now(ctx)
		}}
		n := start(t, store, snowflake.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		time.Sleep(time.Minute)
		away.Store(true)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if _, err := drawOne(n); err == nil {
			t.Fatal("drew")
		}
		if !strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("no ids for ten minutes, and the log says only:\n%s", log.String())
		}
	})
}

// No call may draw while marks are being lowered. (Passes; no other test notices when Close closes after the release.)
func TestNobodyDrawsDuringTheRelease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mem := newStore()
		var n *snowflake.Node
		var closing atomic.Bool
		store := &hooked{Windows: mem, swap: func(ctx context.Context, old int64, w snowflake.Worker) error {
			if closing.Load() {
				if _, got := n.Take(1); got != 0 {
					t.Errorf("drew while worker %d's mark is lowered to %d", w.ID, w.Until)
				}
			}
			return mem.Swap(ctx, old, w)
		}}
		n = start(t, store, snowflake.Config{})
		mustDraw(t, n)
		closing.Store(true)
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
