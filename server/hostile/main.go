// Hostile starts the redleaf binary, lets hostile and broken clients loose on it, and reports what that cost: the memory
// of the process, and what another client noticed, which draws ids all the while.
//
//	go run ./server/hostile -binary bin/redleaf -doc docs/hostile.md
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// limit is how long everything may take. Each attack is bounded by itself; this is looked at between them.
const limit = 3 * time.Minute

func main() {
	binary := flag.String("binary", "bin/redleaf", "the redleaf `file` under test")
	doc := flag.String("doc", "", "`file` to write the report to, as Markdown; default is standard output")
	flag.Parse()
	if err := run(*binary, *doc); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func run(binary, doc string) error {
	if err := raiseDescriptors(); err != nil {
		return err
	}
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var report strings.Builder
	err = attack(binary, dir, &report)
	fmt.Fprint(os.Stderr, report.String())
	if err != nil || doc == "" {
		return err
	}
	return os.WriteFile(doc, []byte(report.String()), 0o644)
}

// attack runs all attacks, one after the other, and writes the report.
func attack(binary, dir string, report *strings.Builder) error {
	v, err := newVictim(binary, dir)
	if err != nil {
		return err
	}
	defer v.close()
	good, err := newGoodClient(v.Addr)
	if err != nil {
		return err
	}
	defer good.stop()

	writeIntroduction(report)
	end := time.Now().Add(limit)
	for _, attack := range []func(*victim, *goodClient, *strings.Builder) error{
		malformed, beforeAuth, byteAtATime, slowLoris, neverReads, largeReplies, descriptors, idle, randomBytes,
	} {
		if err := errors.Join(attack(v, good, report), good.undisturbed()); err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("not done within %v", limit)
		}
	}
	return conclude(v, good, report)
}

// raiseDescriptors lets this process, and the servers it starts, have as many descriptors as the machine allows.
func raiseDescriptors() error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	l.Cur = l.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l)
}
