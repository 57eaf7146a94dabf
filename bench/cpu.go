package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// tick is the unit of /proc's CPU times: USER_HZ is 100 on every architecture that Go runs on.
const tick = 10 * time.Millisecond

// ProcessCPU returns the CPU time, user and system, that a process has used so far, in steps of 10 ms.
func ProcessCPU(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the server's CPU time: %w", err)
	}
	return parseStat(stat)
}

// parseStat reads fields 14 and 15 of /proc/PID/stat. The name, field 2, may hold spaces and parentheses.
func parseStat(stat []byte) (time.Duration, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, errors.New("/proc/PID/stat: too few fields")
	}
	user, err := strconv.ParseInt(string(fields[11]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/PID/stat: %w", err)
	}
	system, err := strconv.ParseInt(string(fields[12]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/PID/stat: %w", err)
	}
	return time.Duration(user+system) * tick, nil
}

// ownCPU returns the CPU time that this process has used so far.
func ownCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A cpuMeter takes CPU times at the two ends of what is measured.
type cpuMeter struct {
	pid         int
	server, own time.Duration
}

func (m *cpuMeter) start() (err error) {
	m.own = ownCPU()
	if m.pid != 0 {
		m.server, err = ProcessCPU(m.pid)
	}
	return err
}

// stop turns the times into what was used since start.
func (m *cpuMeter) stop() error {
	m.own = ownCPU() - m.own
	if m.pid == 0 {
		return nil
	}
	now, err := ProcessCPU(m.pid)
	m.server = now - m.server
	return err
}
