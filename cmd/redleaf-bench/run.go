package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"redleaf/bench"
)

type runCmd struct {
	Target string `arg:"" help:"What to load."`
	loadFlags
	Depth  []int   `short:"P" default:"1" placeholder:"N,..." help:"Requests sent before their replies are awaited, on each connection; several are run one after the other (default: ${default})."`
	Rate   float64 `placeholder:"N" help:"Requests per second over all connections; latency then counts from when a request was due (default: as many as possible)."`
	Verify bool    `help:"Keep every id: report duplicates, and ids that did not rise on their connection."`
	Pid    int     `placeholder:"N" help:"Process id of the server: report its CPU time per id."`
	outputFlags
}

// report is a run as JSON.
type report struct {
	Results []bench.Result `json:"results"`
	Verdict *bench.Verdict `json:"verify,omitempty"`
}

func (c *runCmd) Run(ctx context.Context, to *streams) error {
	var verifier *bench.Verifier
	if c.Verify {
		verifier = new(bench.Verifier)
	}
	var done report
	for _, depth := range c.Depth {
		r, err := c.one(ctx, to, depth, verifier)
		if err != nil {
			return err
		}
		done.Results = append(done.Results, *r)
	}
	if verifier != nil {
		done.Verdict = new(verifier.Verdict())
	}
	series := []bench.Series{{Name: c.Workload + " " + done.Results[0].Target, Results: done.Results}}
	return errors.Join(c.write(to.out, done.table, done, series), complaints(done.Results), done.unique())
}

// one runs the load at one depth.
func (c *runCmd) one(ctx context.Context, to *streams, depth int, verifier *bench.Verifier) (*bench.Result, error) {
	load, err := c.load(c.Target, depth)
	if err != nil {
		return nil, err
	}
	bar := newBar(to.err, fmt.Sprintf("depth %d", depth))
	defer bar.end()
	load.Rate, load.Verifier, load.Pid, load.Progress = c.Rate, verifier, c.Pid, bar.update
	return bench.Run(ctx, load)
}

func (r *report) table(out io.Writer) error {
	err := bench.WriteTable(out, r.Results)
	if v := r.Verdict; v != nil {
		fmt.Fprintf(out, "verified %d ids: %d duplicates, %d out of order\n", v.IDs, v.Duplicates, v.Breaks)
	}
	return err
}

// unique fails when the ids were not what they must be.
func (r *report) unique() error {
	switch v := r.Verdict; {
	case v == nil || v.OK():
		return nil
	case v.Duplicates > 0:
		return fmt.Errorf("%d duplicate ids, first %s", v.Duplicates, v.Example)
	default:
		return fmt.Errorf("%d ids were not above the one before them on their connection", v.Breaks)
	}
}
