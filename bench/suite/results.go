package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"redleaf/bench"
)

//go:embed results.md.tmpl
var page string

// results are everything that was measured.
type results struct {
	Machine  []fact
	Servers  []string // as they were started
	Pairs    int
	Duration time.Duration
	Took     time.Duration

	Bars        []bar
	Comparisons []compared
	Sweep       []bench.Series // ids per second by depth
	Switches    *switchResult
	ColdStarts  []coldStart
	Idle        []idleResult
	Micro       []microTable
}

// A fact is one line about the machine or a version.
type fact struct{ Name, Value string }

// A bar is a line of the table of what was asked for.
type bar struct {
	Measure, AtLeast, Measured, Spread string
	Met                                string // yes, no, or nothing where there is nothing to meet
}

// addBar compares a ratio with what it should be at least; 0: it is only reported.
func (r *results) addBar(measure string, least float64, aim string, got bench.Ratio) {
	b := bar{Measure: measure, AtLeast: aim, Measured: bench.Factor(got.Median), Spread: bench.Factor(got.Low) + " to " + bench.Factor(got.High)}
	if least > 0 {
		b.Met = yesOrNo(got.Median >= least)
	}
	r.Bars = append(r.Bars, b)
	log.Printf("  %s: %s (%s), %s", b.Measure, b.Measured, b.Spread, b.AtLeast)
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// write writes RESULTS.md, the plots, and the numbers behind them.
func (s *suite) write(r *results) error {
	if err := s.plots(r); err != nil {
		return fmt.Errorf("drawing: %w", err)
	}
	parsed, err := template.New("results").Funcs(template.FuncMap{
		"rounded": bench.Rounded, "micros": bench.Micros, "ns": bench.Nanoseconds, "factor": bench.Factor,
		"mib": func(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) },
	}).Parse(page)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := parsed.Execute(&text, r); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.out, "RESULTS.md"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	numbers, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(s.bench), "bench-results.json"), numbers, 0o644)
}

// plots draws throughput by depth and latency by percentile.
func (s *suite) plots(r *results) error {
	dir := filepath.Join(s.out, "plots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	draw := func(name string, plot func([]bench.Series) ([]byte, error), series []bench.Series) error {
		svg, err := plot(series)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), svg, 0o644)
	}
	if err := draw("throughput.svg", bench.ThroughputSVG, r.Sweep); err != nil {
		return err
	}
	for _, c := range r.Comparisons {
		if c.plot == "" {
			continue
		}
		series := []bench.Series{
			{Name: "redleaf", Results: []bench.Result{c.A.Median}}, {Name: "Redis", Results: []bench.Result{c.B.Median}},
		}
		if err := draw(c.plot, bench.LatencySVG, series); err != nil {
			return err
		}
	}
	return nil
}
