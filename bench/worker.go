package bench

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// What the histograms hold, in nanoseconds. Longer latencies are recorded as the longest.
const (
	shortest = 100
	longest  = int64(2 * time.Minute)
)

// maxPause is the longest time in which a worker does not look whether the run is over.
const maxPause = 50 * time.Millisecond

// fewWorkers is up to where histograms have three significant digits, in 170 KB each; beyond they have two, in 20 KB.
const fewWorkers = 512

// newHistogram makes a histogram of one of so many workers.
func newHistogram(workers int) *hdrhistogram.Histogram {
	if workers > fewWorkers {
		return hdrhistogram.New(shortest, longest, 2)
	}
	return hdrhistogram.New(shortest, longest, 3)
}

// A Sample is one request of a traced run.
type Sample struct {
	At      time.Duration // when its reply came, since the start of the run
	Latency time.Duration // since it was sent, or due
	ID      int64
}

// A worker loads a target over one connection. All times are since the start of the run.
type worker struct {
	drv      driver
	reqs     *requests
	pace     pace
	each     int64         // ids that one value stands for
	from, to time.Duration // what is measured: replies that come in [from, to)
	depth    int

	start time.Time // of the run
	sent  int64     // requests before the batch under way
	begun time.Duration
	got   int64 // replies of the batch under way

	latency  *hdrhistogram.Histogram
	requests int64 // measured, as the next three
	ids      int64
	errors   int64
	missed   int64 // requests that were due and not sent

	failure string       // text of the first error reply, whenever it came
	live    atomic.Int64 // ids since the start of the run, for who watches

	ledger *ledger // nil: ids are not kept
	spaces []int   // of each key
	trace  bool
	traced []Sample
}

// run sends until the time is over.
func (w *worker) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, w.drv.interrupt)()
	alarm, err := newAlarm()
	if err != nil {
		return err
	}
	defer alarm.close()
	for ctx.Err() == nil {
		elapsed := time.Since(w.start)
		if elapsed >= w.to {
			w.missed = w.pace.missed(w.to, w.sent)
			return nil
		}
		n, wait := w.pace.next(elapsed, w.sent, w.depth)
		if n == 0 {
			if err := alarm.wait(min(wait, w.to-elapsed, maxPause)); err != nil {
				return err
			}
			continue
		}
		w.begun, w.got = elapsed, 0
		if err := w.drv.exchange(ctx, w.sent, n, w); err != nil {
			return err
		}
		w.sent += int64(n)
	}
	return context.Cause(ctx)
}

// arrived notes replies, and the values and errors in them. All of them came just now.
func (w *worker) arrived(replies, values, errors int64) {
	now := time.Since(w.start)
	w.live.Add(values * w.each)
	if w.trace {
		w.tracedNow(now, int(values))
	}
	if now >= w.from && now < w.to {
		w.requests += replies
		w.ids += values * w.each
		w.errors += errors
		w.record(now, replies)
	}
	w.got += replies
}

// record notes the latencies of replies that came now.
func (w *worker) record(now time.Duration, replies int64) {
	if !w.pace.open() {
		_ = w.latency.RecordValues(clamp(now-w.begun), replies) // within bounds
		return
	}
	for i := range replies {
		_ = w.latency.RecordValue(clamp(now - w.pace.at(w.sent+w.got+i))) // within bounds
	}
}

func clamp(d time.Duration) int64 { return min(max(int64(d), shortest), longest) }

// sink is where ids go to; nil when nobody wants them.
func (w *worker) sink() sink {
	if w.ledger == nil && !w.trace {
		return nil
	}
	return w
}

// take is called with each id, before arrived is for its reply.
func (w *worker) take(reply, id int64) {
	if w.ledger != nil {
		w.ledger.add(w.spaces[w.reqs.key(reply)], id-w.each+1, id)
	}
	if w.trace {
		w.traced = append(w.traced, Sample{ID: id})
	}
}

// tracedNow completes the last n samples.
func (w *worker) tracedNow(now time.Duration, n int) {
	since := w.begun
	for i := range w.traced[len(w.traced)-n:] {
		if w.pace.open() {
			since = w.pace.at(w.sent + w.got + int64(i))
		}
		s := &w.traced[len(w.traced)-n+i]
		s.At, s.Latency = now, now-since
	}
}

func (w *worker) fail(text string) {
	if w.failure == "" {
		w.failure = text
	}
}
