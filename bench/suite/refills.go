package main

import (
	"context"
	"errors"
	"log"
	"strconv"
	"sync"

	"redleaf/bench"
)

const (
	refillNodes = 10
	refillTags  = 1000
	refillStep  = 10
)

// A refillCost is what leasing segments costs.
type refillCost struct {
	Offered                 string  // ids per second of all nodes together
	IDs, Refills, LogWrites float64 // per second
	DatabaseCPU, NodeCPU    float64 // of one core, in percent; of all nodes together
	PerRefill               float64 // microseconds of the database's CPU
	Errors                  int64   // replies
	P50, P99                float64 // microseconds
}

// allRefills measures what leases cost, at rising rates.
func (s *suite) allRefills(ctx context.Context) (all []refillCost, err error) {
	step := strconv.Itoa(refillStep)
	f, err := s.startFleet(ctx, refillNodes, "--step", step, "--max-step", step)
	if err != nil {
		return nil, err
	}
	defer f.stop()
	for _, rate := range []int{1000, 1000, 3000, 0} { // the first makes the tags
		r, err := s.refills(ctx, f, rate)
		if err != nil {
			return nil, err
		}
		all = append(all, *r)
	}
	return all[1:], nil
}

// refills loads all tags on all nodes, each of which leases every tag for itself.
func (s *suite) refills(ctx context.Context, f *fleet, rate int) (*refillCost, error) {
	log.Printf("measuring: refills, %d ids/s a node", rate)
	runs := make([]bench.Result, len(f.nodes))
	u, err := f.during(ctx, func() error {
		errs := make([]error, len(f.nodes))
		var loading sync.WaitGroup
		for i, n := range f.nodes {
			loading.Go(func() { runs[i], errs[i] = s.loadTags(ctx, n, rate) })
		}
		loading.Wait()
		return errors.Join(errs...)
	})
	if err != nil {
		return nil, err
	}
	r := &refillCost{
		Offered: "as many as possible", Refills: u.per("Com_update"), LogWrites: u.per("Innodb_log_writes"),
		DatabaseCPU: percentOf(u.database, u.took), NodeCPU: percentOf(u.nodes, u.took),
	}
	if rate > 0 {
		r.Offered = strconv.Itoa(rate * len(f.nodes))
	}
	for _, run := range runs {
		r.IDs += run.IDsPerSecond
		r.Errors += run.Errors
		r.P50, r.P99 = max(r.P50, run.Latency.P50), max(r.P99, run.Latency.P99)
	}
	r.PerRefill = float64(u.database.Microseconds()) / (r.Refills * u.took.Seconds())
	return r, nil
}

// loadTags draws from all tags of one node in turn.
func (s *suite) loadTags(ctx context.Context, n *server, rate int) (bench.Result, error) {
	args := []string{"run", n.url(), "--tags", strconv.Itoa(refillTags), "-c", "50", "-d", "10s", "--warmup", "0s"}
	if rate > 0 {
		args = append(args, "--rate", strconv.Itoa(rate))
	}
	var got struct{ Results []bench.Result }
	if err := s.runBench(ctx, &got, args...); err != nil {
		return bench.Result{}, err
	}
	return got.Results[0], nil
}
