package torture

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// row is what happened under one kind of fault.
type row struct {
	name, expected       string
	times                int
	atOnce               int // faults each time
	ids, duplicates      int64
	single               int64 // of the ids, those that came in a place of their own
	errors               int64
	silence, back, limit time.Duration
}

// report is what a run has to say.
type report struct {
	seed  uint64
	begun time.Time
	rows  []*row

	mu         sync.Mutex // protects what follows
	complaints []string
	said       map[string]int // lines of the nodes' logs, by level and message
}

func newReport(seed uint64) *report {
	return &report{seed: seed, begun: time.Now(), said: map[string]int{}}
}

func (r *report) row(f fault) *row {
	for _, known := range r.rows {
		if known.name == f.name {
			return known
		}
	}
	one := &row{name: f.name, expected: f.expected, limit: f.limit, atOnce: 1}
	if f.name == pair {
		one.atOnce = 2
	}
	r.rows = append(r.rows, one)
	return one
}

func (r *report) complain(about, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.complaints) < 50 {
		r.complaints = append(r.complaints, about+": "+what)
	}
}

// logged counts a line of a node's log by what it says.
func (r *report) logged(line string) {
	level := regexp.MustCompile(`level=(\S+) msg=("(?:[^"\\]|\\.)*"|\S+)`).FindStringSubmatch(line)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case level == nil && strings.HasPrefix(line, "redleaf:"):
		r.said["exit "+strings.SplitN(line, ": ", 3)[1]]++
	case level == nil:
		r.said["other"]++
		if strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE") {
			r.complaints = append(r.complaints, "a node: "+line)
		}
	case level[1] != "INFO":
		r.said[level[1]+" "+strings.Trim(level[2], `"`)]++
	}
}

// failures are what must not have happened.
func (r *report) failures() (all []string) {
	r.mu.Lock()
	all = slices.Clone(r.complaints)
	r.mu.Unlock()
	for _, row := range r.rows {
		if row.duplicates > 0 {
			all = append(all, fmt.Sprintf("%s: %d ids twice", row.name, row.duplicates))
		}
		if row.silence > row.limit {
			all = append(all, fmt.Sprintf("%s: no answer for %v, allowed are %v", row.name, row.silence, row.limit))
		}
	}
	return all
}

// table is the report for people.
func (r *report) table() string {
	var b strings.Builder
	total := row{}
	b.WriteString("| fault | times | ids checked | of them one by one | twice | longest silence | all nodes back after | error replies | expected |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n")
	for _, row := range r.rows {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.2f s | %.2f s | %d | %s |\n", row.name, row.times, row.ids, row.single, row.duplicates,
			row.silence.Seconds(), row.back.Seconds(), row.errors, row.expected)
		total.times += row.times * row.atOnce
		total.ids += row.ids
		total.single += row.single
		total.duplicates += row.duplicates
		total.errors += row.errors
	}
	fmt.Fprintf(&b, "| **all** faults | %d | %d | %d | %d | | | %d | |\n", total.times, total.ids, total.single, total.duplicates, total.errors)
	return b.String()
}

// write writes the whole report as Markdown.
func (r *report) write(file string, skipped int64) error {
	var b strings.Builder
	b.WriteString("# Torture\n\nWritten by `make torture`: three nodes on MariaDB, each behind a proxy of its own, and one on SQLite, under load, while\n" +
		"faults are injected one after the other or two at a time. Every id that a client received is kept and compared with all others;\n" +
		"INCRBY reserves many with one reply, all other ids came one by one.\n\n")
	fmt.Fprintf(&b, "Seed %d, %v.\n\n%s\n", r.seed, time.Since(r.begun).Round(time.Second), r.table())
	fmt.Fprintf(&b, "Integers between the ids received, lost to crashes, abandoned ranges and unread replies: %d.\n\n", skipped)
	b.WriteString("\"Longest silence\" is the longest time that a client waited for a reply, of ids or an error. \"Back\" is how long after the\n" +
		"fault ended all nodes gave out both kinds of id.\n\n## What the logs said\n\n| times | message |\n| ---: | --- |\n")
	failures := r.failures()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, message := range slices.Sorted(maps.Keys(r.said)) {
		fmt.Fprintf(&b, "| %d | %s |\n", r.said[message], message)
	}
	if len(failures) > 0 {
		b.WriteString("\n## Failures\n\n```\n" + strings.Join(failures, "\n") + "\n```\n")
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}
