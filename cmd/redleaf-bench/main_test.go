package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redleaf/bench"
)

const binaryEnv = "REDLEAF_BENCH_TEST_BINARY"

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "redleaf-bench-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "redleaf-bench")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building redleaf-bench: %v\n%s", err, out)
		return 1
	}
	os.Setenv(binaryEnv, path)
	return m.Run()
}

// command runs the binary to its end.
func command(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Getenv(binaryEnv), args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// redis starts a real Redis on a port of 127.0.0.1 and on a Unix socket.
func redis(t *testing.T) (addr, socket string, pid int) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("redis-server is not installed: run make deps")
	}
	dir, err := os.MkdirTemp("", "redis") // a socket's path has little room
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	addr, socket = freeAddr(t), filepath.Join(dir, "s")
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(path, "--bind", "127.0.0.1", "--port", port, "--unixsocket", socket, "--dir", dir, "--save", "", "--appendonly", "no")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 500 { // it has no other way to say that it is up
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return addr, socket, cmd.Process.Pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("redis-server does not answer")
	return "", "", 0
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestAgainstRedis(t *testing.T) {
	addr, socket, pid := redis(t)
	dir := t.TempDir()
	svg, html, file := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.html"), filepath.Join(dir, "a.json")
	short := []string{"-d", "100ms", "--warmup", "20ms", "-c", "3"}

	t.Run("run", func(t *testing.T) {
		out, stderr, status := command(t, append(short, "redis://"+addr, "-P", "1,64", "--verify", "--pid", fmt.Sprint(pid), "--svg", svg, "--html", html, "--json", file)...)
		if status != 0 || stderr != "" || !strings.Contains(out, ": 0 duplicates, 0 out of order") {
			t.Fatalf("status %d: %s%s", status, out, stderr)
		}
		var got report
		decode(t, file, &got)
		if len(got.Results) != 2 || got.Results[1].Depth != 64 || got.Results[0].ServerCPU == nil || got.Results[0].Latency.P99 <= 0 {
			t.Errorf("%+v", got)
		}
		if got.Verdict.IDs < got.Results[0].IDs+got.Results[1].IDs || got.Results[1].IDs == 0 {
			t.Errorf("%d and %d ids, verified %d", got.Results[0].IDs, got.Results[1].IDs, got.Verdict.IDs)
		}
		for _, name := range []string{svg, html} {
			if text, err := os.ReadFile(name); err != nil || !bytes.Contains(text, []byte("</svg>")) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})

	// Each workload by either client: what Redis has there is what is asked for, ids or not.
	for _, client := range []string{"own", "go-redis"} {
		for _, workload := range bench.Workloads() {
			t.Run(client+" "+workload, func(t *testing.T) {
				key := "key-of-" + workload + client
				fill(t, addr, workload, key)
				out, stderr, status := command(t, append(short, "unix://"+socket, "--client", client, "--workload", workload, "--key", key,
					"--count", "3", "-P", "5", "-d", "50ms", "--json", "-")...)
				var got report
				if err := json.Unmarshal([]byte(out), &got); err != nil {
					t.Fatalf("status %d: %v %s%s", status, err, out, stderr)
				}
				r := got.Results[0]
				each := map[string]int64{"incrby": 3, "mget": 3, "lpop": 3}[workload]
				if workload != "lpop" && (r.IDs != max(each, 1)*r.Requests || r.Requests == 0 || status != 0) {
					t.Errorf("%d ids of %d requests, status %d, %s", r.IDs, r.Requests, status, r.Failure)
				}
				if workload == "lpop" && (r.Failure == "" || status != exitFailure) {
					t.Errorf("an empty list passes: %+v", r)
				}
			})
		}
	}

	t.Run("duplicates", func(t *testing.T) {
		fill(t, addr, "get", "same")
		_, stderr, status := command(t, append(short, "redis://"+addr, "--workload", "get", "--key", "same", "--verify")...)
		if status != exitFailure || !strings.Contains(stderr, "duplicate ids, first 7 of key same") {
			t.Errorf("status %d: %s", status, stderr)
		}
	})

	t.Run("compare", func(t *testing.T) {
		out, stderr, status := command(t, append([]string{"compare", "redis://" + addr, "unix://" + socket, "--pairs", "2", "--b-depth", "64",
			"--pid", fmt.Sprintf("%d,%d", pid, pid), "--json", file}, short...)...)
		if status != 0 || !strings.Contains(out, "Medians of 2 pairs") || !strings.Contains(out, "server CPU per id, B / A") {
			t.Fatalf("status %d: %s%s", status, out, stderr)
		}
		var got bench.Comparison
		decode(t, file, &got)
		if len(got.A.Runs) != 2 || len(got.B.Runs) != 2 || got.B.Median.Depth != 64 || got.Speed.Low > got.Speed.High || got.CPU == nil {
			t.Errorf("%+v", got)
		}
	})
}

// fill gives Redis what a workload reads.
func fill(t *testing.T, addr, workload, key string) {
	t.Helper()
	if workload != "get" && workload != "mget" {
		return
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "SET %s 7\r\n", key)
	if _, err := c.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
}

func decode(t *testing.T, file string, to any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args   string
		status int
		want   string
	}{
		{"", exitUsage, "<target>"},
		{"localhost:1", exitFailure, "redis://"},
		{"redis://h --workload flushall", exitUsage, "workload"},
		{"redis://h -P x", exitUsage, "--depth"},
		{"redis://127.0.0.1:1", exitFailure, "connection refused"},
		{"redis://h --depth 0", exitFailure, "--depth, --conn"},
		{"compare redis://a", exitUsage, "<b>"},
		{"compare redis://a redis://b --pid 3", exitFailure, "two process ids"},
		{"rediss://h --ca /none", exitUsage, "/none"},
	} {
		_, stderr, status := command(t, strings.Fields(tt.args)...)
		if status != tt.status || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "panic") > 0 {
			t.Errorf("%q: status %d, %s", tt.args, status, stderr)
		}
	}
	if out, _, status := command(t, "--help"); status != 0 || !strings.Contains(out, "unix:///PATH") {
		t.Errorf("--help: status %d, %s", status, out)
	}
}
