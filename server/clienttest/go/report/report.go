// Package report is how a client program talks to the runner: lines on standard output, settings from the environment.
package report

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// Report writes the lines; the runner reads them.
type Report struct{ out *bufio.Writer }

// New returns a report to standard output.
func New(version string) *Report {
	r := &Report{out: bufio.NewWriter(os.Stdout)}
	fmt.Fprintln(r.out, "version", version)
	return r
}

// Addr is the server's address, Password its password or nothing.
func Addr() string     { return os.Getenv("REDLEAF_ADDR") }
func Password() string { return os.Getenv("REDLEAF_PASSWORD") }

// Own is the key of the tag that only this client draws from, Shared of the one that all do.
func Own() string    { return "segment:" + os.Getenv("REDLEAF_TAG") }
func Shared() string { return "segment:" + os.Getenv("REDLEAF_SHARED") }

// Snowflake is a key of the other kind.
func Snowflake() string { return "snowflake:" + os.Getenv("REDLEAF_TAG") }

// ID tells the runner about ids of a kind: own, shared or snowflake.
func ID[T int64 | string](r *Report, kind string, ids ...T) {
	for _, id := range ids {
		fmt.Fprintln(r.out, kind, id)
	}
}

// Block tells about the 1,000 ids that INCRBY reserved.
func (r *Report) Block(last int64) { fmt.Fprintln(r.out, "block", last) }

// Refused gives the text of the error that an unknown command got.
func (r *Report) Refused(err error) { fmt.Fprintln(r.out, "error", err) }

// Flush hands over what was told so far.
func (r *Report) Flush() error { return r.out.Flush() }

// Outage draws until the server went away and came back, and 10 ids more.
func (r *Report) Outage(draw func() (int64, error)) {
	fmt.Fprintln(r.out, "ready")
	var failed, after int
	var example string
	for after < 10 {
		r.out.Flush()
		_, missing := os.Stat(os.Getenv("REDLEAF_UP"))
		id, err := draw()
		switch {
		case err != nil:
			failed, example = failed+1, strings.ReplaceAll(err.Error(), "\n", " ")
			time.Sleep(20 * time.Millisecond)
		default:
			ID(r, "shared", id)
			if missing == nil {
				after++
			}
		}
	}
	fmt.Fprintln(r.out, "failed", failed, example)
	r.out.Flush()
}

// Check ends the program with what went wrong.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Version of a module that the program was built with.
func Version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dep := range info.Deps {
		if dep.Path == module {
			return strings.TrimPrefix(dep.Version, "v")
		}
	}
	return "unknown"
}
