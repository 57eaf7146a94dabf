package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"redleaf/bench"
)

type compareCmd struct {
	A string `arg:"" help:"The target that the ratios are of."`
	B string `arg:"" help:"The target that it is compared with."`
	loadFlags
	Depth     int     `short:"P" default:"1" placeholder:"N" help:"Requests sent before their replies are awaited, on each connection (default: ${default})."`
	Rate      float64 `placeholder:"N" help:"Requests per second over all connections (default: as many as possible)."`
	Pairs     int     `default:"5" placeholder:"N" help:"How often both are run (default: ${default})."`
	Pid       []int   `placeholder:"A,B" help:"Process ids of the servers: report the ratio of their CPU time per id."`
	BWorkload string  `name:"b-workload" enum:",incr,incrby,get,mget,lpop,mixed" default:"" placeholder:"NAME" help:"Another workload for B."`
	BKey      string  `name:"b-key" placeholder:"KEY" help:"Another key for B."`
	BDepth    int     `name:"b-depth" placeholder:"N" help:"Another depth for B."`
	outputFlags
}

func (c *compareCmd) Run(ctx context.Context, to *streams) error {
	a, b, err := c.loads()
	if err != nil {
		return err
	}
	bar := newBar(to.err, "comparing")
	defer bar.end()
	done, err := bench.Compare(ctx, a, b, c.Pairs, bar.part)
	if err != nil {
		return err
	}
	bar.end()
	series := []bench.Series{
		{Name: "A: " + done.A.Median.Target, Results: []bench.Result{done.A.Median}},
		{Name: "B: " + done.B.Median.Target, Results: []bench.Result{done.B.Median}},
	}
	table := func(out io.Writer) error { return bench.WriteComparison(out, done) }
	return errors.Join(c.write(to.out, table, done, series), complaints(slices.Concat(done.A.Runs, done.B.Runs)))
}

// loads returns what is sent to A and to B.
func (c *compareCmd) loads() (a, b bench.Load, err error) {
	if len(c.Pid) != 0 && len(c.Pid) != 2 {
		return a, b, fmt.Errorf("--pid wants two process ids, of A and of B")
	}
	a, errA := c.load(c.A, c.Depth)
	b, errB := c.load(c.B, c.Depth)
	a.Rate, b.Rate = c.Rate, c.Rate
	if len(c.Pid) == 2 {
		a.Pid, b.Pid = c.Pid[0], c.Pid[1]
	}
	if c.BWorkload != "" {
		b.Workload = c.BWorkload
	}
	if c.BKey != "" {
		b.Key = c.BKey
	}
	if c.BDepth != 0 {
		b.Depth = c.BDepth
	}
	return a, b, errors.Join(errA, errB)
}
