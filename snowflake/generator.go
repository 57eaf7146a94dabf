package snowflake

import "slices"

// runAhead is by how many milliseconds ids may run ahead of the clock when a millisecond's sequence is used up.
const runAhead = 10

// window is the right to issue the timestamps from+1 to until of one worker id. Windows that a node owns never overlap.
type window struct {
	worker      int
	from, until int64 // Unix milliseconds: exclusive, inclusive
	used        int64 // the last timestamp issued in it; from when none was
}

func (w window) owns(ts int64) bool { return w.from < ts && ts <= w.until }

// generator decides which id comes next. Its position (timestamp, worker, sequence) only rises, in that order, so ids
// do too. It is not safe for concurrent use.
type generator struct {
	layout  Layout
	random  func(n int64) int64 // in [0, n)
	windows []window            // by rising worker, then time

	ts     int64 // position: what was issued last
	worker int
	seq    int64
}

// take issues up to n ids (n >= 1) at the time now and returns the first and how many: they are consecutive. It
// returns 0 when the clock or the windows allow none.
func (g *generator) take(now, n int64) (first, got int64) {
	if !g.advance(now) {
		return 0, 0
	}
	got = min(n, g.layout.MaxSequence()-g.seq+1)
	first = g.layout.ID(g.ts, g.worker, g.seq)
	g.seq += got - 1
	return first, got
}

// advance moves the position to the next one that may be issued, and marks its window as used.
func (g *generator) advance(now int64) bool {
	if g.ts >= now { // this millisecond is not over, or ids run ahead of the clock
		if w := g.holder(g.ts, g.worker); w != nil && w.worker == g.worker && g.seq < g.layout.MaxSequence() {
			g.seq++
			return true
		}
		if w := g.holder(g.ts, g.worker+1); w != nil {
			return g.enter(w, g.ts, 0)
		}
	}
	idle := g.ts < now-1
	for ts := max(now, g.ts+1); ts <= now+runAhead; ts++ {
		if w := g.holder(ts, 0); w != nil {
			return g.enter(w, ts, g.start(idle))
		}
	}
	return false
}

// holder returns the window of the lowest worker, not below lo, that owns the timestamp; nil when none does.
func (g *generator) holder(ts int64, lo int) *window {
	if ts > g.layout.MaxTime() || ts <= g.layout.Epoch { // at the epoch itself an id could be 0
		return nil
	}
	for i := range g.windows {
		if w := &g.windows[i]; w.worker >= lo && w.owns(ts) {
			return w
		}
	}
	return nil
}

// enter begins a timestamp of a window.
func (g *generator) enter(w *window, ts, seq int64) bool {
	w.used = ts
	g.ts, g.worker, g.seq = ts, w.worker, seq
	return true
}

// start returns the first sequence number of a millisecond. After idle ones it is a small random number, as in Leaf, so
// that ids drawn now and then spread over shards; at full speed it is 0, so that no id is wasted.
func (g *generator) start(idle bool) int64 {
	spread := min(100, (g.layout.MaxSequence()+1)/8)
	if !idle || spread < 2 {
		return 0
	}
	return g.random(spread)
}

// next returns the earliest timestamp that can be issued once the clock allows it.
func (g *generator) next(now int64) (ts int64, ok bool) {
	for _, w := range g.windows {
		t := max(now, g.ts+1, w.from+1)
		if w.owns(t) && t <= g.layout.MaxTime() && (!ok || t < ts) {
			ts, ok = t, true
		}
	}
	return ts, ok
}

// add takes in a window that is now owned.
func (g *generator) add(w window) {
	w.used = w.from
	i, _ := slices.BinarySearchFunc(g.windows, w, func(a, b window) int {
		if a.worker != b.worker {
			return a.worker - b.worker
		}
		return int(a.from - b.from)
	})
	g.windows = slices.Insert(g.windows, i, w)
}

// extend moves the end of the worker's window from one mark to a later one.
func (g *generator) extend(worker int, from, to int64) {
	for i := range g.windows {
		if w := &g.windows[i]; w.worker == worker && w.until == from {
			w.until = max(from, to)
		}
	}
}

// used returns the last timestamp issued in the worker's window that ends at until: its start when none was.
func (g *generator) used(worker int, until int64) (ts int64, ok bool) {
	for _, w := range g.windows {
		if w.worker == worker && w.until == until {
			return w.used, true
		}
	}
	return 0, false
}

// drop forgets windows that can be of no more use: those that ended before now and that nobody will extend.
func (g *generator) drop(now int64, kept func(window) bool) {
	g.windows = slices.DeleteFunc(g.windows, func(w window) bool { return w.until < now && !kept(w) })
}
