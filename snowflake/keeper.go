package snowflake

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// firstWindow is the longest window of a claim, and of a process that has not lived that long, or not since a reply
	// was lost: neither a crash loop nor a connection that loses replies may strand worker ids for the full window each
	// time.
	firstWindow = 10 * time.Second
	// FixedWindow is the longest window of a fixed worker id: a start after a crash waits for it to pass.
	FixedWindow = 5 * time.Second
	// year before the layout's end, warnings begin.
	year = 365 * 24 * time.Hour
)

// Pauses after failures, jittered.
const (
	minRetry = 200 * time.Millisecond
	maxRetry = time.Second
)

// lease is a row that this node wrote last, as far as it knows: it saw its compare-and-set succeed. A lease whose
// extension failed, or got no answer, is forgotten: the window stays in the generator to its end, and the row is
// never touched again.
type lease struct {
	row  Worker
	from int64 // Unix milliseconds: the row's mark before the claim
}

// keeper claims worker windows and keeps them extended. It runs in one goroutine, which owns its fields.
type keeper struct {
	n        *Node
	leases   []lease
	born     int64     // node time, Unix milliseconds, of the start or of the last write whose outcome is unknown
	retryAt  int64     // node time of the next try after a failure; 0: none failed
	failures int       // tries that failed in a row
	silent   bool      // the log was told that no window is left
	warned   time.Time // when the year's-end warning was logged last

	steps chan time.Duration // steps back of the wall clock, to be logged
	done  chan struct{}

	quit          context.Context // ends when Close begins
	endQuit       context.CancelFunc
	statements    context.Context // ends when Close gives up waiting for a statement
	endStatements context.CancelFunc
}

func newKeeper(n *Node) *keeper {
	k := &keeper{n: n, steps: make(chan time.Duration, 1), done: make(chan struct{})}
	k.statements, k.endStatements = context.WithCancel(context.Background())
	k.quit, k.endQuit = context.WithCancel(k.statements)
	return k
}

// noteStep has a step back of the wall clock logged; it never blocks.
func (k *keeper) noteStep(d time.Duration) {
	select {
	case k.steps <- d:
	default: // one is waiting to be logged already
	}
}

// start checks layout and clock, claims every worker id, and begins to keep them.
func (k *keeper) start(ctx context.Context) error {
	n := k.n
	k.born = n.now()
	if err := n.cfg.Layout.checkTime(k.born); err != nil {
		return err
	}
	if _, err := k.compareClocks(ctx); err != nil {
		return err
	}
	// Last, so that a start which is refused anyhow records nothing for good.
	if err := k.call(ctx, func(ctx context.Context) error { return n.store.RecordLayout(ctx, n.cfg.Layout) }); err != nil {
		return fmt.Errorf("checking the layout: %w", err)
	}
	k.warnOfEnd()
	for len(k.leases) < n.cfg.Workers {
		if err := k.claimAtStart(ctx); err != nil {
			k.endStatements()
			release, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.cfg.StatementTimeout)
			defer cancel()
			return errors.Join(err, k.release(release))
		}
	}
	go k.run()
	return nil
}

// run extends windows in time and replaces lost ones until quit ends.
func (k *keeper) run() {
	defer close(k.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-k.quit.Done():
			return
		case d := <-k.steps:
			k.n.cfg.Logger.Warn("the wall clock stepped back; ids go on from the time before", "by", d)
			continue
		case <-timer.C:
		}
		k.keep()
		timer.Reset(k.untilNext())
	}
}

// keep does what is due now.
func (k *keeper) keep() {
	k.warnOfEnd()
	if k.n.now() < k.retryAt {
		return
	}
	err := k.extendDue()
	if missing := k.n.cfg.Workers - len(k.leases); err == nil && missing > 0 {
		err = k.replace(missing)
	}
	k.dropEnded()
	k.note(err)
}

// note remembers the outcome of a round and when to try again.
func (k *keeper) note(err error) {
	k.n.change(func() { k.n.state.err = err })
	if err == nil {
		if k.failures > 0 {
			k.n.cfg.Logger.Info("worker windows are kept again")
		}
		k.failures, k.retryAt, k.silent = 0, 0, false
		return
	}
	if k.failures == 0 {
		k.n.cfg.Logger.Warn("keeping worker windows failed; trying again", "err", err)
	}
	if !k.silent && !k.owns() {
		k.silent = true
		k.n.cfg.Logger.Error("no worker window is left: snowflake ids have stopped until one can be claimed", "err", err)
	}
	k.failures++
	pause := min(maxRetry, minRetry<<min(k.failures-1, 10))
	k.retryAt = k.n.now() + (pause/2 + rand.N(pause/2)).Milliseconds()
}

// owns reports whether a window is left to draw from.
func (k *keeper) owns() bool {
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	now, _ := k.n.time.now()
	_, owned := k.n.gen.next(now)
	return owned
}

// extendDue extends every window of which half or less is left. A failure before anything was sent is returned and
// changes nothing; a compare-and-set that failed or got no answer ends the lease.
func (k *keeper) extendDue() error {
	now := k.n.now()
	length := k.length(now).Milliseconds()
	due := func(l lease) bool { return l.row.Until-now <= length/2 }
	if !slices.ContainsFunc(k.leases, due) {
		return nil
	}
	if _, err := k.compareClocks(k.statements); err != nil {
		return err
	}
	var kept []lease
	for _, l := range k.leases {
		if due(l) {
			extended, err := k.extend(l)
			if err != nil {
				k.doubt(err)
				k.lose(l, err)
				continue
			}
			l = extended
		}
		kept = append(kept, l)
	}
	k.leases = kept
	return nil
}

// extend moves the lease's end to a window's length from now.
func (k *keeper) extend(l lease) (lease, error) {
	now := k.n.now()
	row := k.row(l.row.ID, max(l.row.Until, now+k.length(now).Milliseconds()))
	if err := k.swap(k.statements, l.row.Token, row); err != nil {
		return l, err
	}
	k.n.change(func() {
		k.n.gen.extend(l.row.ID, l.row.Until, row.Until)
		k.n.state.extends++
	})
	return lease{row: row, from: l.from}, nil
}

// lose notes that a lease can't be trusted to be extended any more. What is surely owned is served to its end.
func (k *keeper) lose(l lease, err error) {
	k.n.change(func() { k.n.state.lost++ })
	k.n.cfg.Logger.Warn("worker window not extended; claiming another worker id",
		"worker", l.row.ID, "until", utc(l.row.Until), "err", err)
}

// doubt takes note of a write whose outcome is unknown: windows are short again until things have gone well for a while.
func (k *keeper) doubt(err error) {
	if !errors.Is(err, ErrSwapped) {
		k.born = k.n.now()
	}
}

// replace claims worker ids for those that are missing.
func (k *keeper) replace(missing int) error {
	for range missing {
		if _, err := k.claim(k.statements); err != nil {
			return err
		}
	}
	return nil
}

// length returns how long a window written now should be.
func (k *keeper) length(now int64) time.Duration {
	switch {
	case k.n.cfg.Fixed:
		return min(FixedWindow, k.n.cfg.Window)
	case sinceEpoch(now-k.born) < firstWindow:
		return min(firstWindow, k.n.cfg.Window)
	}
	return k.n.cfg.Window
}

// untilNext returns how long nothing is due.
func (k *keeper) untilNext() time.Duration {
	now := k.n.now()
	if k.retryAt > 0 {
		return sinceEpoch(max(1, k.retryAt-now))
	}
	next := now + time.Hour.Milliseconds()
	half := k.length(now).Milliseconds() / 2
	for _, l := range k.leases {
		next = min(next, l.row.Until-half)
	}
	return sinceEpoch(max(1, next-now))
}

// dropEnded forgets windows that ended and that no lease extends.
func (k *keeper) dropEnded() {
	now := k.n.now()
	k.n.change(func() {
		k.n.gen.drop(now, func(w window) bool {
			return slices.ContainsFunc(k.leases, func(l lease) bool { return l.row.ID == w.worker && l.row.Until == w.until })
		})
	})
}

// warnOfEnd warns, once a day, when less than a year is left of the layout's time.
func (k *keeper) warnOfEnd() {
	left := sinceEpoch(k.n.cfg.Layout.MaxTime() - k.n.now())
	if k.n.cfg.Layout.MaxTime()-k.n.now() > year.Milliseconds() || time.Since(k.warned) < 24*time.Hour {
		return
	}
	k.warned = time.Now()
	k.n.cfg.Logger.Warn("the snowflake layout's time runs out", "left", left, "end", utc(k.n.cfg.Layout.MaxTime()))
}
