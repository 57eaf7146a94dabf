package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"redleaf/bench"
)

// microCount is how often each micro-benchmark is run: benchstat wants at least six for an interval.
const microCount = "6"

// A microTable is micro-benchmarks of one place, after benchstat.
type microTable struct {
	Title, Command string
	Header         []string
	Rows           [][]string
}

// micro runs the benchmarks inside one process: id libraries beside each other, and redleaf's own parts.
func (s *suite) micro(ctx context.Context, r *results) error {
	if s.skip == "micro" {
		return nil
	}
	peers, err := s.benchstat(ctx, "/lib,/ids,/goroutines", "bench/peers", "-benchtime", "100ms", ".")
	if err != nil {
		return err
	}
	r.Micro = append(r.Micro, matrix(peers))
	own, err := s.benchstat(ctx, "pkg,.fullname", ".", "-benchtime", "200ms", "./alloc", "./snowflake", "./server", "./bench")
	if err != nil {
		return err
	}
	table := microTable{Title: "redleaf's own parts, and redleaf-bench's client", Header: []string{"package", "benchmark", "time per id, command or reply", "±"}}
	processors := fmt.Sprint("-", runtime.GOMAXPROCS(0)) // go test appends it to every name
	for _, row := range own {
		pkg, name, _ := strings.Cut(row.name, " ")
		table.Rows = append(table.Rows, []string{pkg, strings.TrimSuffix(name, processors), bench.Nanoseconds(row.ns), row.spread})
	}
	r.Micro = append(r.Micro, table)
	return nil
}

// A microRow is one benchmark: its median in nanoseconds and what benchstat says about its spread.
type microRow struct {
	name   string // the fields of benchstat's row, with a space between
	ns     float64
	spread string
}

// benchstat runs benchmarks of a folder and returns benchstat's medians, a row for each combination of the fields.
func (s *suite) benchstat(ctx context.Context, fields, dir string, args ...string) ([]microRow, error) {
	test := exec.CommandContext(ctx, "go", append([]string{"test", "-run", "^$", "-bench", ".", "-count", microCount}, args...)...)
	test.Dir = dir
	measured, err := test.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", join(test.Args[1:]), err, measured)
	}
	// benchstat is a tool of the nested module.
	stat := exec.CommandContext(ctx, "go", "tool", "benchstat", "-format", "csv", "-row", fields, "/dev/stdin")
	stat.Dir, stat.Stdin = "bench/peers", bytes.NewReader(measured)
	out, err := stat.Output()
	if err != nil {
		return nil, fmt.Errorf("benchstat: %w", err)
	}
	return parseBenchstat(string(out))
}

// parseBenchstat reads the tables of times: a line with "sec/op", then lines of name, seconds, spread.
func parseBenchstat(text string) ([]microRow, error) {
	lines := csv.NewReader(strings.NewReader(text))
	lines.FieldsPerRecord = -1
	all, err := lines.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("what benchstat says: %w", err)
	}
	var rows []microRow
	times := false
	for _, line := range all {
		switch {
		case len(line) < 3 || line[0] == "geomean":
		case line[2] == "CI":
			times = line[1] == "sec/op"
		case times:
			seconds, err := strconv.ParseFloat(line[1], 64)
			if err != nil {
				times = false // the head of the next table
				continue
			}
			rows = append(rows, microRow{name: line[0], ns: seconds * 1e9, spread: line[2]})
		}
	}
	return rows, nil
}

// matrix turns rows of library, ids of a call, and goroutines into a table of libraries.
func matrix(rows []microRow) microTable {
	t := microTable{
		Title:  "Id libraries in one process, time per id",
		Header: []string{"library", "1 goroutine", "2 goroutines", "1 goroutine, 1,000 ids a call", "2 goroutines, 1,000 ids a call"},
	}
	places := []string{"1 1", "1 2", "1000 1", "1000 2"}
	at := map[string]int{}
	for _, row := range rows {
		lib, place, _ := strings.Cut(row.name, " ")
		i, ok := at[lib]
		if !ok {
			i = len(t.Rows)
			at[lib] = i
			t.Rows = append(t.Rows, append([]string{lib}, make([]string, len(places))...))
		}
		if c := slices.Index(places, place); c >= 0 {
			t.Rows[i][c+1] = bench.Nanoseconds(row.ns) + " ±" + row.spread
		}
	}
	return t
}
