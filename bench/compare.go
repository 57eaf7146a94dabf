package bench

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// A Comparison is two loads run in turn, so that what slows the machine for a while slows both.
type Comparison struct {
	A     Side `json:"a"`
	B     Side `json:"b"`
	Pairs int  `json:"pairs"`

	Speed Ratio  `json:"speed"`         // ids per second, A / B
	P99   Ratio  `json:"p99"`           // latency, A / B
	CPU   *Ratio `json:"cpu,omitempty"` // the servers' CPU time per id, B / A: above 1, A needs less

	ClientCPU Ratio `json:"client_cpu"` // the client's CPU time per id, B / A
}

// A Side is one of the loads of a comparison.
type Side struct {
	Median Result   `json:"median"` // the run in the middle by ids per second
	Runs   []Result `json:"runs"`
}

// A Ratio is of two medians. Low and High are the least and the greatest ratio of two runs that followed each other.
type Ratio struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Compare runs a and b in turn, each pairs times: A B, B A, A B, so that neither always comes first. After each run it calls
// progress, which may be nil.
func Compare(ctx context.Context, a, b Load, pairs int, progress func(done, total int)) (*Comparison, error) {
	if pairs < 1 {
		return nil, errors.New("a comparison needs at least one pair")
	}
	c := &Comparison{Pairs: pairs}
	for i := range pairs {
		order := []*Side{&c.A, &c.B}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for j, side := range order {
			load := a
			if side == &c.B {
				load = b
			}
			r, err := Run(ctx, load)
			if err != nil {
				return nil, err
			}
			side.Runs = append(side.Runs, *r)
			if progress != nil {
				progress(2*i+j+1, 2*pairs)
			}
		}
	}
	c.summarise()
	return c, nil
}

// summarise computes the ratios from the runs.
func (c *Comparison) summarise() {
	c.A.Median, c.B.Median = medianRun(c.A.Runs), medianRun(c.B.Runs)
	c.Speed = ratioOf(c.A.each(Result.speed), c.B.each(Result.speed))
	c.P99 = ratioOf(c.A.each(Result.p99), c.B.each(Result.p99))
	c.ClientCPU = ratioOf(c.B.each(Result.clientCPU), c.A.each(Result.clientCPU))
	if c.A.Median.ServerCPU != nil && c.B.Median.ServerCPU != nil {
		c.CPU = new(ratioOf(c.B.each(Result.serverCPU), c.A.each(Result.serverCPU)))
	}
}

func (r Result) speed() float64     { return r.IDsPerSecond }
func (r Result) p99() float64       { return r.Latency.P99 }
func (r Result) clientCPU() float64 { return r.ClientCPU.NanosecondsPerID }
func (r Result) serverCPU() float64 { return r.ServerCPU.NanosecondsPerID }

// each returns one number of each run.
func (s *Side) each(number func(Result) float64) []float64 {
	var all []float64
	for _, r := range s.Runs {
		all = append(all, number(r))
	}
	return all
}

// MedianCPU is the median of the server's CPU time per id, in nanoseconds; 0 where it was not measured.
func (s *Side) MedianCPU() float64 {
	if s.Median.ServerCPU == nil {
		return 0
	}
	return median(s.each(Result.serverCPU))
}

// MedianSpeed is the median of ids per second.
func (s *Side) MedianSpeed() float64 { return median(s.each(Result.speed)) }

// MedianP99 is the median of the 99th percentiles of latency, in microseconds.
func (s *Side) MedianP99() float64 { return median(s.each(Result.p99)) }

// ratioOf compares the runs of two sides; over[i] and under[i] followed each other.
func ratioOf(over, under []float64) Ratio {
	var pairs []float64
	for i := range over {
		pairs = append(pairs, quotient(over[i], under[i]))
	}
	r := RatioOf(pairs)
	r.Median = quotient(median(over), median(under))
	return r
}

// quotient is 0 where it has no value: JSON has no infinity.
func quotient(over, under float64) float64 {
	if under == 0 {
		return 0
	}
	return over / under
}

// median is the middle value, or the mean of the two in the middle; 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// medianRun is the run in the middle by speed, of an even number the slower of two.
func medianRun(runs []Result) Result {
	sorted := slices.SortedFunc(slices.Values(runs), func(a, b Result) int {
		return cmp.Compare(a.IDsPerSecond, b.IDsPerSecond)
	})
	return sorted[(len(sorted)-1)/2]
}

// RatioOf is the median of values with its spread.
func RatioOf(values []float64) Ratio {
	r := Ratio{Median: median(values)}
	if len(values) > 0 {
		r.Low, r.High = slices.Min(values), slices.Max(values)
	}
	return r
}
