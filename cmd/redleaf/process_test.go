package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is the path of the program under test; TestMain builds it.
func binary(t testing.TB) string {
	t.Helper()
	path := os.Getenv(binaryEnv)
	if path == "" {
		t.Fatal("TestMain did not build the binary")
	}
	return path
}

const binaryEnv = "REDLEAF_TEST_BINARY"

func TestMain(m *testing.M) {
	flag.Int(restartsFlag, 6, "how often TestRestarts starts the program anew on each store; 500 by hand")
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "redleaf-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "redleaf")
	args := []string{"build", "-o", path}
	if raceEnabled {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building redleaf: %v\n%s", err, out)
		return 1
	}
	os.Setenv(binaryEnv, path)
	return m.Run()
}

// process is a running redleaf.
type process struct {
	cmd    *exec.Cmd
	addr   string // of the Redis port
	exited chan struct{}

	mu  sync.Mutex // protects log
	log bytes.Buffer
}

var servingLine = regexp.MustCompile(`msg=serving addr=(\S+)`)

// startProcess runs `redleaf serve` with the arguments on a free port of 127.0.0.1, or on the port that args name, and
// returns when it serves. It ends with the test.
func startProcess(t testing.TB, args ...string) *process {
	t.Helper()
	p, err := launch(t.TempDir(), binary(t), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("log of redleaf at %s:\n%s", p.addr, p.logged())
		}
		if strings.Contains(p.logged(), "DATA RACE") {
			t.Errorf("data race in redleaf:\n%s", p.logged())
		}
	})
	return p
}

// launch starts the program in dir and waits until it serves or has ended.
func launch(dir, path string, args ...string) (*process, error) {
	p, serving, err := begin(dir, path, args...)
	if err != nil {
		return nil, err
	}
	select {
	case p.addr = <-serving:
		return p, nil
	case <-p.exited:
		return nil, fmt.Errorf("redleaf %v did not serve: %v\n%s", args, p.cmd.ProcessState, p.logged())
	}
}

// begin starts the program in dir; serving gets its address.
func begin(dir, path string, args ...string) (p *process, serving chan string, err error) {
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--http-listen", ""}, args...)
	p = &process{cmd: exec.Command(path, args...), exited: make(chan struct{})}
	p.cmd.Dir = dir
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, nil, err
	}
	serving = make(chan string, 1)
	go p.follow(bufio.NewScanner(stderr), serving)
	return p, serving, nil
}

// follow keeps the log, announces the address once, and reaps the process.
func (p *process) follow(lines *bufio.Scanner, serving chan<- string) {
	for lines.Scan() {
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		p.mu.Unlock()
		if m := servingLine.FindStringSubmatch(lines.Text()); m != nil {
			serving <- m[1]
		}
	}
	p.cmd.Wait()
	close(p.exited)
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// kill ends the process as a power loss would, and waits.
func (p *process) kill() {
	p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.exited
}

// stop asks the process to stop and returns its exit status.
func (p *process) stop(t testing.TB) int {
	t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(30 * time.Second):
		p.kill()
		t.Fatalf("redleaf did not stop within 30 s:\n%s", p.logged())
	}
	return p.cmd.ProcessState.ExitCode()
}

// command runs redleaf with the arguments to its end in dir.
func command(t testing.TB, dir string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t), args...)
	cmd.Dir = dir
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || !exit.Exited()) {
		t.Fatalf("redleaf %v: %v\n%s", args, err, errOut.String())
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}
