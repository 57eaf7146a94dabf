package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"redleaf/bench"
)

// The load under which segments are switched: each segment lasts a tenth of a second.
const (
	switchRate  = 10_000 // requests per second, of one id each
	switchStep  = 1_000  // ids of a segment, which the step rule may not change
	switchRound = 5 * time.Second
	// A request counts as during a switch or a refill when it was due from so long before until so long after it.
	before      = 5 * time.Millisecond
	afterSwitch = 15 * time.Millisecond
	afterRefill = 5 * time.Millisecond
)

// A switchResult says what switching segments costs. Latencies are medians of the rounds, in microseconds.
type switchResult struct {
	Command               string
	Rate, Step            int
	Before, After         time.Duration // the window of a switch
	Rounds                int
	Refills               int // seen in all rounds
	Requests, InSwitches  int
	DuringP50, DuringP999 float64
	BetweenP50            float64
	BetweenP999           float64
	DuringMax, BetweenMax float64 // of all rounds
	Ratio                 bench.Ratio
}

// switches compares latencies while segments are switched and refilled with those between, on MariaDB at a steady rate.
func (s *suite) switches(ctx context.Context, r *results) error {
	redleaf, stop, err := s.startOnMariaDB(ctx, "--step", fmt.Sprint(switchStep), "--max-step", fmt.Sprint(switchStep))
	if err != nil {
		return err
	}
	defer stop()
	target, err := bench.ParseTarget(redleaf.url())
	if err != nil {
		return err
	}
	load := bench.Load{Target: target, Key: "segment:switch", Connections: 8, Duration: switchRound, Warmup: time.Second, Rate: switchRate, Trace: true}
	result := &switchResult{Command: redleaf.command, Rate: switchRate, Step: switchStep, Before: before, After: afterSwitch, Rounds: s.rounds}
	var ratios, during50, during999, between50, between999 []float64
	for range s.rounds {
		samples, refills, err := traced(ctx, load, redleaf.addr)
		if err != nil {
			return err
		}
		during, between := split(samples, refills)
		if len(during) == 0 || len(between) == 0 {
			return fmt.Errorf("%d requests during switches, %d between them", len(during), len(between))
		}
		result.Refills += len(refills)
		result.Requests += len(samples)
		result.InSwitches += len(during)
		during50, during999 = append(during50, percentile(during, 50)), append(during999, percentile(during, 99.9))
		between50, between999 = append(between50, percentile(between, 50)), append(between999, percentile(between, 99.9))
		result.DuringMax, result.BetweenMax = max(result.DuringMax, percentile(during, 100)), max(result.BetweenMax, percentile(between, 100))
		ratios = append(ratios, percentile(during, 99.9)/percentile(between, 99.9))
	}
	result.Ratio = bench.RatioOf(ratios)
	result.DuringP50, result.DuringP999 = bench.RatioOf(during50).Median, bench.RatioOf(during999).Median
	result.BetweenP50, result.BetweenP999 = bench.RatioOf(between50).Median, bench.RatioOf(between999).Median
	r.Switches = result
	r.addBar("p99.9 during segment switches / between them, MariaDB", 0, "below 1.5", result.Ratio)
	r.Bars[len(r.Bars)-1].Met = yesOrNo(result.Ratio.Median < 1.5)
	return nil
}

// traced loads the server and returns every measured request by time, and when refills were seen.
func traced(ctx context.Context, load bench.Load, addr string) (samples []bench.Sample, refills []time.Duration, err error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var seen []time.Time
	var watchErr error
	var watcher sync.WaitGroup
	watcher.Go(func() { seen, watchErr = watchRefills(watching, addr, load.Key) })
	result, err := bench.Run(ctx, load)
	stop()
	watcher.Wait()
	if err = cmp.Or(err, watchErr); err != nil {
		return nil, nil, err
	}
	for _, sample := range result.Trace {
		if sample.At >= load.Warmup {
			samples = append(samples, sample)
		}
	}
	for _, t := range seen {
		refills = append(refills, t.Sub(result.Began))
	}
	return samples, refills, nil
}

// watchRefills asks every other millisecond how often the tag was refilled, until ctx is done.
func watchRefills(ctx context.Context, addr, key string) (seen []time.Time, err error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	replies := bufio.NewReader(c)
	last := ""
	for ctx.Err() == nil {
		if _, err := fmt.Fprintf(c, "HGET %s refills\r\n", key); err != nil {
			return nil, err
		}
		count, err := bulk(replies)
		if err != nil {
			return nil, err
		}
		if count != last && last != "" {
			seen = append(seen, time.Now())
		}
		last = count
		time.Sleep(2 * time.Millisecond)
	}
	return seen, nil
}

// bulk reads a short string; a nil is "".
func bulk(replies *bufio.Reader) (string, error) {
	head, err := replies.ReadString('\n')
	if err != nil || strings.HasPrefix(head, "$-1") {
		return "", err
	}
	if !strings.HasPrefix(head, "$") {
		return "", fmt.Errorf("HGET answers %q", head)
	}
	text, err := replies.ReadString('\n')
	return strings.TrimSpace(text), err
}

// split tells the latencies of requests that were due around switches and refills from the others, in microseconds and
// sorted. A switch is where ids pass a multiple of the step: with one node, every segment ends there. Only when requests were
// due decides, and the windows have one length: whatever stops the machine for a while must fall into them as often as
// they are long. Who waits for a segment waits longest when it was due first, so that they need not reach further.
func split(samples []bench.Sample, refills []time.Duration) (during, between []float64) {
	var windows []window
	for _, at := range refills {
		windows = append(windows, window{at - before, at + afterRefill})
	}
	for _, s := range samples {
		if s.ID%switchStep <= 1 { // the last of a segment and the first of the next
			windows = append(windows, window{s.At - s.Latency - before, s.At - s.Latency + afterSwitch})
		}
	}
	windows = merge(windows)
	for _, s := range samples {
		us := float64(s.Latency) / 1e3
		if inside(windows, s.At-s.Latency) {
			during = append(during, us)
		} else {
			between = append(between, us)
		}
	}
	slices.Sort(during)
	slices.Sort(between)
	return during, between
}

// A window is a stretch of time, both ends in it.
type window struct{ from, to time.Duration }

// merge sorts windows and joins those that overlap.
func merge(windows []window) (joined []window) {
	slices.SortFunc(windows, func(a, b window) int { return cmp.Compare(a.from, b.from) })
	for _, w := range windows {
		if n := len(joined); n > 0 && w.from <= joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, w.to)
		} else {
			joined = append(joined, w)
		}
	}
	return joined
}

// inside says whether one of the merged windows holds a moment.
func inside(windows []window, moment time.Duration) bool {
	i, _ := slices.BinarySearchFunc(windows, moment, func(w window, moment time.Duration) int { return cmp.Compare(w.to, moment) })
	return i < len(windows) && windows[i].from <= moment
}

// percentile reads one off sorted values.
func percentile(sorted []float64, percent float64) float64 {
	i := int(percent / 100 * float64(len(sorted)))
	return sorted[min(i, len(sorted)-1)]
}

// number reads a decimal number that must be one.
func number(text string) (int64, error) { return strconv.ParseInt(strings.TrimSpace(text), 10, 64) }
