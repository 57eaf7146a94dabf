package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine notes what the numbers depend on.
func (s *suite) machine(ctx context.Context, r *results) error {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return err
	}
	model, err := value("/proc/cpuinfo", "model name")
	if err != nil {
		return err
	}
	memory, err := value("/proc/meminfo", "MemTotal")
	if err != nil {
		return err
	}
	r.Machine = []fact{
		{"CPU", fmt.Sprintf("%s, %d cores, shared by servers and clients", model, runtime.NumCPU())},
		{"memory", memory},
		{"kernel", "Linux " + strings.TrimSpace(string(kernel)) + ", loopback TCP"},
		{"load average at the start", strings.Join(strings.Fields(string(load))[:3], " ")},
	}
	for _, version := range [][]string{
		{"redleaf", s.redleaf, "version"}, {"Redis", "redis-server", "--version"}, {"MariaDB", "mariadbd", "--version"}, {"Go", "go", "version"},
	} {
		text, err := firstLine(ctx, version[1:]...)
		if err != nil {
			return err
		}
		r.Machine = append(r.Machine, fact{version[0], text})
	}
	return nil
}

// value reads the first line of a file that begins with a name and a colon.
func value(file, name string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if key, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(v), nil
		}
	}
	return "unknown", nil
}

// firstLine runs a program that says its version, and leaves out where it lies.
func firstLine(ctx context.Context, args ...string) (string, error) {
	path, err := find(args[0])
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, args[1:]...).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", join(args), err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(strings.TrimPrefix(line, path)), nil
}
