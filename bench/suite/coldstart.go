package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"redleaf/bench"
)

const (
	coldStep = 1_000           // ids of a new tag's first segment
	coldTime = 3 * time.Second // of load from a cold start, and again afterwards
	coldPoll = 2 * time.Millisecond
	// coldMaxStep is beyond the default: a tag has one lease under way at a time, so it gets at most so many ids a round trip,
	// and the default's million in 20 ms is less than this load takes.
	coldMaxStep = 4_000_000
)

// A coldStart is what a new tag's first seconds are like at full load, with the database some way off: medians of the rounds
// except where a greatest is named.
type coldStart struct {
	Lag     time.Duration // by which the database's replies are late
	Command string
	Rounds  int

	Waits       float64       // calls that waited for a segment
	Refills     float64       // refills until the last of them was over
	LastWait    time.Duration // when that was, since the load began; the greatest of all rounds
	Speed       float64       // ids per second afterwards
	SteadyWaits int64         // calls that waited for a segment afterwards, in all rounds
}

// Step is how many ids the first segment has.
func (coldStart) Step() int { return coldStep }

// MaxStep is how many ids a later one has at most.
func (coldStart) MaxStep() int { return coldMaxStep }

// Afterwards is how long the load went on after the cold start.
func (coldStart) Afterwards() time.Duration { return coldTime }

// coldStarts measures how soon a new tag is served without waiting for a database 1 ms and 20 ms away.
func (s *suite) coldStarts(ctx context.Context, r *results) error {
	for _, lag := range []time.Duration{time.Millisecond, 20 * time.Millisecond} {
		cold, err := s.coldStart(ctx, lag)
		if err != nil {
			return fmt.Errorf("%v away: %w", lag, err)
		}
		r.ColdStarts = append(r.ColdStarts, *cold)
		r.Bars = append(r.Bars, bar{
			Measure: fmt.Sprintf("calls that wait for a database %v away, depth 1,024, after a cold start of %v", lag, coldTime),
			AtLeast: "none", Measured: fmt.Sprint(cold.SteadyWaits), Met: yesOrNo(cold.SteadyWaits == 0),
		})
	}
	return nil
}

func (s *suite) coldStart(ctx context.Context, lag time.Duration) (*coldStart, error) {
	redleaf, stop, err := s.startFarFromMariaDB(ctx, lag, "--step", fmt.Sprint(coldStep), "--max-step", fmt.Sprint(coldMaxStep))
	if err != nil {
		return nil, err
	}
	defer stop()
	cold := &coldStart{Lag: lag, Command: redleaf.command, Rounds: s.rounds}
	var waits, refills, speeds []float64
	for round := range s.rounds {
		key := fmt.Sprint("segment:cold", round)
		first, err := s.watched(ctx, redleaf, key, counters{})
		if err != nil {
			return nil, err
		}
		then, err := s.watched(ctx, redleaf, key, first.after)
		if err != nil {
			return nil, err
		}
		waits, refills, speeds = append(waits, float64(first.waits)), append(refills, float64(first.refills)), append(speeds, then.speed)
		cold.LastWait = max(cold.LastWait, first.lastWait.Round(time.Millisecond))
		cold.SteadyWaits += then.waits
	}
	cold.Waits, cold.Refills, cold.Speed = bench.RatioOf(waits).Median, bench.RatioOf(refills).Median, bench.RatioOf(speeds).Median
	return cold, nil
}

// A watchedRun is what a load did to its tag.
type watchedRun struct {
	speed    float64       // ids per second
	waits    int64         // calls that waited for a segment
	lastWait time.Duration // when the last of them was seen, since the load began
	refills  int64         // until then
	after    counters
}

// watched loads a key at full depth and watches its tag, whose counters before that are given.
func (s *suite) watched(ctx context.Context, redleaf *server, key string, before counters) (*watchedRun, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	run := new(watchedRun)
	var watchErr error
	var watcher sync.WaitGroup
	watcher.Go(func() { watchErr = run.watch(watching, redleaf.addr, key, before) })
	var got struct{ Results []bench.Result }
	err := s.runBench(ctx, &got, "run", redleaf.url(), "--key", key, "-c", "8", "-P", "1024", "-d", coldTime.String(), "--warmup", "0s")
	stop()
	watcher.Wait()
	if err != nil {
		return nil, err
	}
	run.speed = got.Results[0].IDsPerSecond
	return run, watchErr
}

// watch follows the tag's counters until ctx is done.
func (w *watchedRun) watch(ctx context.Context, addr, key string, before counters) error {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	replies := bufio.NewReader(c)
	var began time.Time
	last := before
	for done := false; !done; {
		done = ctx.Err() != nil // once more after the end
		now, err := ask(c, replies, key)
		if err != nil {
			return err
		}
		if began.IsZero() && now != before {
			began = time.Now()
		}
		if now.waits != last.waits {
			w.lastWait, w.refills = time.Since(began), now.refills-before.refills
		}
		last = now
		time.Sleep(coldPoll)
	}
	w.waits, w.after = last.waits-before.waits, last
	return nil
}

// counters are of a tag, since the server started.
type counters struct{ refills, waits int64 }

// ask reads a tag's counters; zeros where there is no such tag.
func ask(c net.Conn, replies *bufio.Reader, key string) (now counters, err error) {
	if _, err := fmt.Fprintf(c, "HGET %s refills\r\nHGET %s waits\r\n", key, key); err != nil {
		return now, err
	}
	for _, counter := range []*int64{&now.refills, &now.waits} {
		text, err := bulk(replies)
		if err != nil {
			return now, err
		}
		if text == "" {
			continue
		}
		if *counter, err = number(text); err != nil {
			return now, err
		}
	}
	return now, nil
}
