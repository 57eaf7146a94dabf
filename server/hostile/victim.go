package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"redleaf/server/internal/process"
)

// dialTimeout bounds every connection attempt, and every wait for a reply that must come.
const dialTimeout = 10 * time.Second

// victim is a server under attack.
type victim struct {
	*process.Redleaf
	binary, dir string
}

func newVictim(binary, dir string, args ...string) (*victim, error) {
	p, err := process.Start(binary, dir, args...)
	if err != nil {
		return nil, err
	}
	return &victim{p, binary, dir}, nil
}

// close is for the end of a run that has gone well or not: what the stop says is looked at elsewhere.
func (v *victim) close() { _ = v.Stop() }

func (v *victim) dial() (net.Conn, error) { return net.DialTimeout("tcp", v.Addr, dialTimeout) }

func (v *victim) usage() usage { return usage{v.Pid()} }

// info returns a field of INFO.
func (v *victim) info(field string) (string, error) {
	conn, err := v.dial()
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(dialTimeout))
	if _, err := io.WriteString(conn, "INFO\r\nQUIT\r\n"); err != nil {
		return "", err
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), field+":"); ok {
			return value, nil
		}
	}
	return "", fmt.Errorf("INFO has no %s", field)
}

// usage looks at what a process uses: resident memory and processor time.
type usage struct{ pid int }

func (u usage) now() int64  { return u.field("VmRSS") }
func (u usage) peak() int64 { return u.field("VmHWM") }

// resetPeak makes peak start from now.
func (u usage) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", u.pid), []byte("5"), 0) // else the peak is that of the run, which is more
}

// field returns a size in bytes from the process's status; -1 when there is no process.
func (u usage) field(name string) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", u.pid))
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == name+":" {
			kb, _ := strconv.ParseInt(f[1], 10, 64) // the kernel writes numbers
			return kb << 10
		}
	}
	return -1
}

// cpu returns the processor time that the process's threads have used.
func (u usage) cpu() time.Duration {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", u.pid)) // the pattern is well formed
	var sum time.Duration
	for _, path := range threads {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that has just ended
		}
		ran, _, _ := strings.Cut(string(raw), " ")
		ns, _ := strconv.ParseInt(ran, 10, 64) // the kernel writes numbers
		sum += time.Duration(ns)
	}
	return sum
}

// mb writes bytes for people.
func mb(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
