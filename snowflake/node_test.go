package snowflake_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redleaf/snowflake"
)

// bubble runs a test under a fake clock, in a year that the default layout can represent.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)))
		test(t)
	})
}

func wallMs() int64 { return time.Now().UnixMilli() }

func newStore() *snowflake.MemWindows { return snowflake.NewMemWindows(wallMs) }

// shifted is a clock whose wall time is away from the database's by offset.
func shifted(offset *atomic.Int64) snowflake.Clock {
	start := time.Now()
	return func() (int64, time.Duration) { return wallMs() + offset.Load(), time.Since(start) }
}

// hooked is a store whose Swap and Now a test can replace.
type hooked struct {
	snowflake.Windows
	swap func(ctx context.Context, old int64, w snowflake.Worker) error
	now  func(ctx context.Context) (int64, error)
}

func (h *hooked) Swap(ctx context.Context, old int64, w snowflake.Worker) error {
	if h.swap != nil {
		return h.swap(ctx, old, w)
	}
	return h.Windows.Swap(ctx, old, w)
}

func (h *hooked) Now(ctx context.Context) (int64, error) {
	if h.now != nil {
		return h.now(ctx)
	}
	return h.Windows.Now(ctx)
}

// start returns a running node; the test's end closes it.
func start(t *testing.T, w snowflake.Windows, cfg snowflake.Config) *snowflake.Node {
	t.Helper()
	n, err := snowflake.Start(t.Context(), w, cfg)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(func() { n.Close(context.Background()) })
	return n
}

func drawOne(n *snowflake.Node) (parts snowflake.Parts, err error) {
	err = n.Draw(context.Background(), 1, func(first, _ int64) { parts, err = n.Layout().Decode(first) })
	return parts, err
}

func mustDraw(t *testing.T, n *snowflake.Node) snowflake.Parts {
	t.Helper()
	parts, err := drawOne(n)
	if err != nil {
		t.Fatalf("Draw: %v", err)
	}
	return parts
}

func rows(t *testing.T, w snowflake.Windows) []snowflake.Worker {
	t.Helper()
	got, err := w.Workers(context.Background(), 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestIDCarriesThePresentTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := start(t, newStore(), snowflake.Config{})
		if parts := mustDraw(t, n); parts.Worker != 0 || !parts.Time.Equal(time.Now()) {
			t.Errorf("drew %+v at %v", parts, time.Now())
		}
	})
}

func TestBatchRisesAndIsPacedByTheClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := start(t, newStore(), snowflake.Config{Workers: 2})
		begin, last, count := time.Now(), int64(0), int64(0)
		err := n.Draw(t.Context(), 1_000_000, func(first, got int64) {
			if first <= last {
				t.Fatalf("id %d after %d", first, last)
			}
			last, count = first+got-1, count+got
		})
		if err != nil || count != 1_000_000 {
			t.Fatalf("drew %d: %v", count, err)
		}
		// Two workers have 8,192 ids a millisecond: 123 of them, 10 ahead of the clock.
		if took := time.Since(begin); took < 110*time.Millisecond || took > 125*time.Millisecond {
			t.Errorf("a million ids took %v", took)
		}
	})
}

// A crash loop strands worker ids for seconds, not for the full window, and each life gets its own.
func TestFirstWindowIsShort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := newStore()
		n := start(t, store, snowflake.Config{})
		until := func() time.Duration { return time.Until(time.UnixMilli(rows(t, store)[0].Until)) }
		if got := until(); got != 10*time.Second {
			t.Errorf("the first window lasts %v, want 10s", got)
		}
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if got := until(); got != 6*time.Second {
			t.Errorf("after 9 s the window lasts %v, want 6s: it was extended by 10 s at half", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := until(); got != 10*time.Minute-time.Second {
			t.Errorf("after 11 s the window lasts %v, want 10 minutes from 10 s on", got)
		}
		time.Sleep(24 * time.Hour)
		mustDraw(t, n)
		if s := n.Status(); s.Claims != 1 || s.Lost != 0 || s.Extends < 200 {
			t.Errorf("after a day: %+v", s)
		}
	})
}

func TestWindowRunsOutWhileTheStoreIsAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var away atomic.Bool
		store := &hooked{Windows: newStore()}
		store.now = func(ctx context.Context) (int64, error) {
			if away.Load() {
				return 0, errors.New("connection refused")
			}
			return store.Windows.Now(ctx)
		}
		n := start(t, store, snowflake.Config{})
		time.Sleep(time.Minute)
		away.Store(true)
		synctest.Wait()
		end := n.Status().Workers[0].Until
		time.Sleep(time.Until(end))
		if got := mustDraw(t, n); !got.Time.Equal(end) {
			t.Errorf("the last millisecond owned is %v, drew %v", end, got.Time)
		}
		time.Sleep(time.Millisecond)
		begin := time.Now()
		_, err := drawOne(n)
		if !errors.Is(err, snowflake.ErrUnavailable) || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("after the window: %v", err)
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("the error came after %v, want Config.Wait", took)
		}
		away.Store(false)
		time.Sleep(2 * time.Second)
		if got := mustDraw(t, n); got.Worker != 0 {
			t.Errorf("the same row is extended when nobody took it; drew from worker %d", got.Worker)
		}
		if s := n.Status(); s.Lost != 0 || s.Err != nil {
			t.Errorf("%+v", s)
		}
	})
}

// An extension whose reply was lost happened all the same; the node must neither rely on it nor touch the row again.
func TestLostReplyOfAnExtension(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var lose atomic.Bool
		mem := newStore()
		store := &hooked{Windows: mem}
		store.swap = func(ctx context.Context, old int64, w snowflake.Worker) error {
			err := mem.Swap(ctx, old, w)
			if lose.CompareAndSwap(true, false) {
				return errors.New("connection lost")
			}
			return err
		}
		n := start(t, store, snowflake.Config{})
		lose.Store(true)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		lost := rows(t, mem)[0]
		held := n.Status().Workers
		if len(held) != 2 || held[0].ID != 0 || held[1].ID != 1 {
			t.Fatalf("windows held: %+v, want the rest of worker 0 and a new one", held)
		}
		if !held[0].Until.Before(time.UnixMilli(lost.Until)) {
			t.Error("the node relies on an extension that it did not see succeed")
		}
		time.Sleep(time.Hour)
		if got := mustDraw(t, n); got.Worker != 1 {
			t.Errorf("drew from worker %d", got.Worker)
		}
		n.Close(t.Context())
		if rows(t, mem)[0] != lost {
			t.Error("the row was touched again")
		}
	})
}

func TestStolenRow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := newStore()
		n := start(t, store, snowflake.Config{})
		mine := rows(t, store)[0]
		other := mine
		other.Token, other.Until = mine.Token+1, mine.Until+60_000
		if err := store.Swap(t.Context(), mine.Token, other); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			parts := mustDraw(t, n)
			if parts.Worker == 0 && parts.Time.UnixMilli() > mine.Until {
				t.Fatalf("drew %+v from a window that it does not own", parts)
			}
			time.Sleep(time.Second)
		}
		if got := mustDraw(t, n); got.Worker != 1 {
			t.Errorf("drew from worker %d, want the one claimed instead", got.Worker)
		}
	})
}

func TestCleanStopReleases(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := newStore()
		n := start(t, store, snowflake.Config{Workers: 2})
		time.Sleep(time.Minute)
		used := mustDraw(t, n).Time
		time.Sleep(time.Second)
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := rows(t, store)
		if at := time.UnixMilli(got[0].Until); !at.Equal(used) {
			t.Errorf("worker 0 released to %v, want the last timestamp used, %v", at, used)
		}
		if at := time.UnixMilli(got[1].Until); time.Since(at) < time.Minute || time.Since(at) > 2*time.Minute {
			t.Errorf("worker 1, never used, released to %v, want the time before the claim", at)
		}
		if _, err := drawOne(n); !errors.Is(err, snowflake.ErrClosed) {
			t.Errorf("Draw after Close: %v", err)
		}
		time.Sleep(time.Minute)
		unused := start(t, store, snowflake.Config{})
		time.Sleep(time.Minute)
		if err := unused.Close(t.Context()); err != nil || rows(t, store)[0].Until != got[0].Until {
			t.Errorf("an unused window released to %+v, want the mark before the claim, %d: %v", rows(t, store)[0], got[0].Until, err)
		}
		again := start(t, store, snowflake.Config{})
		if got := mustDraw(t, again); got.Worker != 0 || !got.Time.After(used) {
			t.Errorf("the next node drew %+v after %v", got, used)
		}
	})
}

func TestStartRefusals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := newStore()
		start(t, store, snowflake.Config{Claimable: 1})
		_, err := snowflake.Start(t.Context(), store, snowflake.Config{Claimable: 1})
		if !errors.Is(err, snowflake.ErrNoWorker) || !strings.Contains(err.Error(), "from 0 to 0; the next may be free in 10.001s") {
			t.Errorf("all ids taken: %v", err)
		}
		_, err = snowflake.Start(t.Context(), store, snowflake.Config{Workers: 2, MinWorker: 5, Claimable: 1})
		if !errors.Is(err, snowflake.ErrNoWorker) {
			t.Errorf("more workers than ids: %v", err)
		}
		if got := rows(t, store)[1]; got.Until >= wallMs() {
			t.Errorf("a start that failed kept %+v", got)
		}
		other := snowflake.DefaultLayout()
		other.Epoch++
		if _, err = snowflake.Start(t.Context(), store, snowflake.Config{Layout: other}); !errors.Is(err, snowflake.ErrLayout) {
			t.Errorf("another layout: %v", err)
		}
		var offset atomic.Int64
		for _, ms := range []int64{5001, -5001, 86400_000} {
			offset.Store(ms)
			_, err = snowflake.Start(t.Context(), store, snowflake.Config{Clock: shifted(&offset)})
			if !errors.Is(err, snowflake.ErrSkew) || strings.Count(err.Error(), "UTC") != 2 {
				t.Errorf("clock off by %d ms: %v", ms, err)
			}
		}
		past, err := snowflake.ParseBits("30,10,12", snowflake.DefaultEpoch)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = snowflake.Start(t.Context(), newStore(), snowflake.Config{Layout: past}); !errors.Is(err, snowflake.ErrExhausted) {
			t.Errorf("a layout that ended in 2010: %v", err)
		}
	})
}

func TestSkewWithinBounds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, ms := range []int64{4900, -4900} {
			var offset atomic.Int64
			offset.Store(ms)
			store := newStore()
			n := start(t, store, snowflake.Config{Clock: shifted(&offset)})
			if got := mustDraw(t, n).Time; !got.Equal(time.Now().Add(time.Duration(ms) * time.Millisecond)) {
				t.Errorf("a clock off by %d ms drew %v at %v", ms, got, time.Now())
			}
		}
	})
}

// A wall clock that jumps far ahead must not carry the row's mark with it.
func TestForwardJumpPoisonsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var offset atomic.Int64
		store := newStore()
		n := start(t, store, snowflake.Config{Clock: shifted(&offset)})
		offset.Store(time.Hour.Milliseconds() * 24 * 365)
		for range 100 {
			time.Sleep(10 * time.Second)
			if ahead := time.Until(mustDraw(t, n).Time); ahead > 5*time.Second+10*time.Millisecond {
				t.Fatalf("drew an id %v ahead of the database", ahead)
			}
		}
		if ahead := time.Until(time.UnixMilli(rows(t, store)[0].Until)); ahead > 10*time.Minute+5*time.Second {
			t.Errorf("the row is spoken for %v ahead", ahead)
		}
		if n.Status().Skewed == 0 {
			t.Error("the skew was not counted")
		}
	})
}

func TestStepBackCostsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var offset atomic.Int64
		var log strings.Builder
		n := start(t, newStore(), snowflake.Config{Clock: shifted(&offset), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		before := mustDraw(t, n)
		offset.Store(-3600_000)
		for range 100 {
			time.Sleep(20 * time.Second)
			got := mustDraw(t, n)
			if !got.Time.Equal(time.Now()) {
				t.Fatalf("drew %v at %v", got.Time, time.Now())
			}
			if !got.Time.After(before.Time) {
				t.Fatalf("drew %v after %v", got.Time, before.Time)
			}
			before = got
		}
		n.Close(t.Context())
		if s := n.Status(); s.StepsBack != 1 || !strings.Contains(log.String(), "stepped back") {
			t.Errorf("%d steps back counted; the log says %s", s.StepsBack, log.String())
		}
	})
}

// A fixed worker id waits, after a crash, until the old window has passed, and the log says so.
func TestFixedWorker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mem := newStore()
		crashed := &hooked{Windows: mem}
		cfg := snowflake.Config{Fixed: true, MinWorker: 7}
		first := start(t, crashed, cfg)
		last := mustDraw(t, first)
		crashed.swap = func(context.Context, int64, snowflake.Worker) error { return errors.New("dead") }
		first.Close(t.Context())

		var log strings.Builder
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		begin := time.Now()
		second := start(t, mem, cfg)
		if waited := time.Since(begin); waited < 5*time.Second || waited > 6*time.Second {
			t.Errorf("the second life waited %v", waited)
		}
		if !strings.Contains(log.String(), "waiting until") || !strings.Contains(log.String(), "for=5.001s") {
			t.Errorf("the log says %s", log.String())
		}
		if got := mustDraw(t, second); got.Worker != 7 || !got.Time.After(last.Time) {
			t.Errorf("drew %+v after %+v", got, last)
		}
		time.Sleep(time.Hour)
		mustDraw(t, second)
		second.Close(t.Context())
		begin = time.Now()
		start(t, mem, cfg)
		if waited := time.Since(begin); waited > 2*time.Millisecond {
			t.Errorf("after a clean stop the start waited %v", waited)
		}
	})
}

func TestFixedWorkerWaitEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := newStore()
		start(t, store, snowflake.Config{Fixed: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if _, err := snowflake.Start(ctx, store, snowflake.Config{Fixed: true}); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("Start: %v after %v", err, time.Since(begin))
		}
	})
}

// Close waits for the statement under way only as long as it is allowed to.
func TestCloseHasADeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		stuck := make(chan struct{})
		var away atomic.Bool
		store := &hooked{Windows: newStore()}
		store.now = func(ctx context.Context) (int64, error) {
			if !away.Load() {
				return wallMs(), nil
			}
			close(stuck)
			<-ctx.Done()
			return 0, ctx.Err()
		}
		n := start(t, store, snowflake.Config{StatementTimeout: time.Hour})
		away.Store(true)
		<-stuck
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin := time.Now()
		n.Close(ctx)
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("Close took %v", took)
		}
	})
}

func TestConcurrentDraws(t *testing.T) {
	n, err := snowflake.Start(t.Context(), newStore(), snowflake.Config{Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(context.Background())
	const callers, each = 8, 20_000
	drawn := make([][]int64, callers)
	var all sync.WaitGroup
	for i := range drawn {
		all.Go(func() {
			for k := int64(1); len(drawn[i]) < each; k = k%300 + 1 {
				err := n.Draw(t.Context(), k, func(first, got int64) {
					for id := first; id < first+got; id++ {
						drawn[i] = append(drawn[i], id)
					}
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	seen := map[int64]string{}
	for i, ids := range drawn {
		for k, id := range ids {
			if k > 0 && id <= ids[k-1] {
				t.Fatalf("caller %d: id %d after %d", i, id, ids[k-1])
			}
			if other, ok := seen[id]; ok {
				t.Fatalf("id %d was drawn by caller %d and by %s", id, i, other)
			}
			seen[id] = fmt.Sprint("caller ", i)
		}
	}
}
