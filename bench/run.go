package bench

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// progressEvery is how often Load.Progress is called.
	progressEvery = 200 * time.Millisecond
	// grace is how long replies may take after the end of a run before the server counts as stuck.
	grace = 15 * time.Second
)

// Run loads a target and returns what was measured. It fails when a connection does; error replies are counted instead.
func Run(ctx context.Context, l Load) (*Result, error) {
	l = l.fill()
	if err := l.check(); err != nil {
		return nil, err
	}
	reqs, err := newRequests(l)
	if err != nil {
		return nil, err
	}
	workers, closeAll, err := connect(ctx, l, reqs)
	defer closeAll()
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", l.Target, err)
	}
	used, err := drive(ctx, l, workers)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", l.Target, err)
	}
	return newResult(l, workers, used), nil
}

// connect makes the workers, each with its connection. What it made must be closed even when it fails.
func connect(ctx context.Context, l Load, reqs *requests) (workers []*worker, closeAll func(), err error) {
	newDriver, closeShared, err := drivers(l, reqs)
	closeAll = func() {
		for _, w := range workers {
			w.drv.close()
		}
		closeShared()
	}
	if err != nil {
		return nil, closeAll, err
	}
	var spaces []int
	if l.Verifier != nil {
		for _, key := range reqs.keys {
			spaces = append(spaces, l.Verifier.space(key))
		}
	}
	for i := range l.Connections {
		drv, err := newDriver(ctx)
		if err != nil {
			return workers, closeAll, err
		}
		w := &worker{
			drv: drv, reqs: reqs, each: l.each(), depth: l.Depth, pace: paceOf(l.Rate, l.Connections, i),
			from: l.Warmup, to: l.Warmup + l.Duration, latency: newHistogram(l.Connections), spaces: spaces, trace: l.Trace,
		}
		if l.Verifier != nil {
			w.ledger = l.Verifier.ledger()
		}
		workers = append(workers, w)
	}
	return workers, closeAll, nil
}

// drivers returns how a load's connections are made.
func drivers(l Load, reqs *requests) (newDriver func(context.Context) (driver, error), closeShared func(), err error) {
	nothing := func() {}
	switch {
	case l.Target.isHTTP():
		return func(context.Context) (driver, error) { return newHTTPClient(l, reqs), nil }, nothing, nil
	case l.Client == ClientGoRedis:
		client, err := newGoRedis(l)
		if err != nil {
			return nil, nothing, err
		}
		return func(context.Context) (driver, error) { return &goRedis{client: client, load: l, reqs: reqs}, nil },
			func() { _ = client.Close() }, nil
	default:
		return func(ctx context.Context) (driver, error) { return dialConn(ctx, l, reqs) }, nothing, nil
	}
}

// drive runs the workers to their end, and measures CPU times meanwhile.
func drive(ctx context.Context, l Load, workers []*worker) (cpuMeter, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.Warmup+l.Duration+grace, fmt.Errorf("no reply within %v", grace))
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	start := time.Now()
	for _, w := range workers {
		w.start = start
		group.Go(func() error { return w.run(ctx) })
	}
	used := cpuMeter{pid: l.Pid}
	group.Go(func() error { return watch(ctx, l, start, workers, &used) })
	err := group.Wait()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // the workers only saw their connections interrupted
	}
	return used, err
}

// watch takes the CPU times at both ends of what is measured and reports progress.
func watch(ctx context.Context, l Load, start time.Time, workers []*worker, used *cpuMeter) error {
	report := reporter(l, workers)
	if err := until(ctx, start, l.Warmup, report); err != nil {
		return err
	}
	if err := used.start(); err != nil {
		return err
	}
	if err := until(ctx, start, l.Warmup+l.Duration, report); err != nil {
		return err
	}
	return used.stop()
}

// until waits for a moment after the start and reports the time now and then.
func until(ctx context.Context, start time.Time, moment time.Duration, report func(elapsed time.Duration)) error {
	for {
		elapsed := time.Since(start)
		report(min(elapsed, moment))
		if elapsed >= moment {
			return nil
		}
		select {
		case <-time.After(min(progressEvery, moment-elapsed)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// reporter returns a function that calls Load.Progress with the speed since it was last called.
func reporter(l Load, workers []*worker) func(elapsed time.Duration) {
	if l.Progress == nil {
		return func(time.Duration) {}
	}
	var lastIDs int64
	var last time.Duration
	return func(elapsed time.Duration) {
		var ids int64
		for _, w := range workers {
			ids += w.live.Load()
		}
		speed := 0.0
		if elapsed > last {
			speed = float64(ids-lastIDs) / (elapsed - last).Seconds()
		}
		lastIDs, last = ids, elapsed
		l.Progress(Progress{Elapsed: elapsed, Total: l.Warmup + l.Duration, IDsPerSecond: speed})
	}
}
