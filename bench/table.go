package bench

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"
)

// WriteTable writes a line for each result.
func WriteTable(out io.Writer, results []Result) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "workload\tconns\tdepth\tids/s\tmean\tp50\tp99\tp99.9\tmax\tserver CPU/id\tclient CPU/id\terrors\tmissed\t")
	for _, r := range results {
		server := "-"
		if r.ServerCPU != nil {
			server = Nanoseconds(r.ServerCPU.NanosecondsPerID)
		}
		l := r.Latency
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t\n", r.Workload, r.Connections, r.Depth, Rounded(r.IDsPerSecond),
			Micros(l.Mean), Micros(l.P50), Micros(l.P99), Micros(l.P999), Micros(l.Max), server, Nanoseconds(r.ClientCPU.NanosecondsPerID), r.Errors, r.Missed)
	}
	return t.Flush()
}

// WriteComparison writes a comparison for people.
func WriteComparison(out io.Writer, c *Comparison) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\ttarget\tworkload\tconns\tdepth\tids/s\tp99\tserver CPU/id\t")
	for i, side := range []*Side{&c.A, &c.B} {
		m := side.Median
		cpu := "-"
		if m.ServerCPU != nil {
			cpu = Nanoseconds(side.MedianCPU())
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t\n", "AB"[i:i+1], m.Target, m.Workload, m.Connections, m.Depth,
			Rounded(side.MedianSpeed()), Micros(side.MedianP99()), cpu)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nMedians of %d pairs; in parentheses the least and the greatest ratio of a pair:\n", c.Pairs)
	fmt.Fprintf(out, "  ids per second, A / B       %s\n", c.Speed)
	fmt.Fprintf(out, "  p99 latency, A / B          %s\n", c.P99)
	if c.CPU != nil {
		fmt.Fprintf(out, "  server CPU per id, B / A    %s\n", *c.CPU)
	}
	return nil
}

// String shows the ratio with its spread.
func (r Ratio) String() string {
	return fmt.Sprintf("%s (%s to %s)", Factor(r.Median), Factor(r.Low), Factor(r.High))
}

// Factor shows a ratio with three digits.
func Factor(f float64) string {
	if f >= 100 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'f', max(0, 2-int(math.Floor(math.Log10(max(f, 1))))), 64)
}

// Rounded shows a number with three significant digits, as 35.1 M.
func Rounded(n float64) string {
	switch {
	case n >= 1e6:
		return Factor(n/1e6) + " M"
	case n >= 1e4:
		return Factor(n/1e3) + " k"
	default:
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
}

// Micros shows microseconds as a duration.
func Micros(us float64) string { return Nanoseconds(us * 1e3) }

// Nanoseconds shows nanoseconds as a duration of three digits.
func Nanoseconds(ns float64) string {
	unit, name := 1.0, " ns"
	switch d := time.Duration(ns); {
	case d >= time.Second:
		unit, name = 1e9, " s"
	case d >= time.Millisecond:
		unit, name = 1e6, " ms"
	case d >= time.Microsecond:
		unit, name = 1e3, " µs"
	}
	return Factor(ns/unit) + name
}
