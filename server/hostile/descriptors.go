package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// descriptors lets a redleaf run out of file descriptors.
func descriptors(v *victim, _ *goodClient, report *strings.Builder) error {
	const allowed, clients = 40, 100
	binary := filepath.Join(v.dir, "few-descriptors")
	script := fmt.Sprintf("#!/bin/sh\nulimit -n %d\nexec '%s' \"$@\"\n", allowed, v.binary)
	if err := os.WriteFile(binary, []byte(script), 0o755); err != nil {
		return err
	}
	few, err := newVictim(binary, v.dir, "--store", "sqlite:few.db")
	if err != nil {
		return err
	}
	defer few.close()
	other, err := newGoodClient(few.Addr)
	if err != nil {
		return err
	}
	defer other.stop()
	other.rest()
	before := few.usage().cpu()
	conns, err := connect(few.Addr, clients) // the kernel completes them; the server can't accept all
	defer closeAll(conns)
	if err != nil {
		return err
	}
	const wait = 3 * time.Second
	time.Sleep(wait)
	during, cpu := other.mark(), few.usage().cpu()-before
	closeAll(conns)
	start := time.Now()
	if _, err := settle(few); err != nil {
		return err
	}
	fmt.Fprintf(report, "## Out of file descriptors\n\nA redleaf that may have %d descriptors got %d connections. A client that was there before: %s; processor of the\n"+
		"server %.0f %% of one core. The connections closed, a new client was served within %v.\n\n",
		allowed, clients, other.describe(during), 100*cpu.Seconds()/wait.Seconds(), time.Since(start).Round(10*time.Millisecond))
	return other.undisturbed()
}
