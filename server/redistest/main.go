// Redistest runs Redis's own test suite against redleaf: the cases that cases.txt marks as run must pass.
//
//	go run ./server/redistest -binary bin/redleaf -suite bin/redis-suite
//
// Each unit gets a redleaf of its own, since redleaf refuses the suite's FLUSHALL.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"redleaf/server/internal/process"
)

type options struct {
	binary, suite, cases, doc string
	tryLeftOut                bool
	unitTimeout               time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/redleaf", "the redleaf `file` under test")
	flag.StringVar(&o.suite, "suite", "bin/redis-suite", "`directory` of Redis's suite, as ./fetch leaves it")
	flag.StringVar(&o.cases, "cases", "server/redistest/cases.txt", "`file` that says which cases are run")
	flag.StringVar(&o.doc, "doc", "", "`file` to write the outcome to, as Markdown")
	flag.BoolVar(&o.tryLeftOut, "try-left-out", false, "run what is left out as well, each case by itself, and say which would pass")
	flag.DurationVar(&o.unitTimeout, "timeout", time.Minute, "how long a unit may take")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "redistest:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	for _, path := range []*string{&o.binary, &o.suite} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = abs
	}
	list, err := readList(o.cases)
	if err != nil {
		return err
	}
	if err := list.matches(o.suite); err != nil {
		return err
	}
	if o.tryLeftOut {
		return tryLeftOut(o, list)
	}
	var wrong []error
	for _, s := range list.sections {
		seen, err := runSection(o, s, list.leftOut(s))
		if err != nil {
			return err
		}
		wrong = append(wrong, s.check(seen)...)
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	run, left := list.count()
	fmt.Printf("%d cases of Redis's test suite passed, %d are left out\n", run, left)
	if o.doc == "" {
		return nil
	}
	return os.WriteFile(o.doc, []byte(list.markdown()), 0o644)
}

// runSection runs the section's cases against a new redleaf, and nothing that skip names.
func runSection(o options, s section, skip []string) (map[string]string, error) {
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	skipFile := filepath.Join(dir, "skip")
	if err := os.WriteFile(skipFile, []byte(strings.Join(skip, "\n")), 0o644); err != nil {
		return nil, err
	}
	server, err := process.Start(o.binary, dir, s.args...)
	if err != nil {
		return nil, err
	}
	out := runTests(o, s.unit, server.Addr, skipFile)
	if err := server.Stop(); err != nil {
		return nil, fmt.Errorf("%w after %s:\n%s", err, s.unit, server.Log())
	}
	return parseOutput(out), nil
}

// runTests returns the suite's output; that it fails shows in there.
func runTests(o options, unit, addr, skipFile string) string {
	host, port, _ := strings.Cut(addr, ":")
	seconds := fmt.Sprint(int(o.unitTimeout.Seconds()))
	cmd := exec.Command("./runtest", "--host", host, "--port", port, "--singledb", "--durable", "--timeout", seconds,
		"--skipfile", skipFile, "--single", unit)
	cmd.Dir = o.suite
	cmd.Env = append(os.Environ(), "TERM=dumb")
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		return "[exception]: " + err.Error()
	}
	return string(out)
}

// tryLeftOut runs each case that is left out, by itself.
func tryLeftOut(o options, list *caseList) error {
	for _, s := range list.sections {
		for _, c := range s.cases {
			if c.reason == "" {
				continue
			}
			seen, err := runSection(o, s, list.allBut(s.unit, c.name))
			if err != nil {
				return err
			}
			verdict, ok := seen[c.name]
			if !ok {
				verdict = "not reached"
			}
			fmt.Printf("%s\t%s\t%s: %.200q\n", s.unit, c.reason, c.name, verdict)
		}
	}
	return nil
}
