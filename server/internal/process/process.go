// Package process runs the redleaf binary for the programs that try it from outside.
package process

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopTimeout is how long a stop may take before the process is killed.
const stopTimeout = 20 * time.Second

// A Redleaf is a running server.
type Redleaf struct {
	Addr string // of the Redis port

	cmd    *exec.Cmd
	exited chan struct{}

	mu  sync.Mutex // protects log
	log strings.Builder
}

// Start runs `redleaf serve` with the arguments in dir, on a free port of 127.0.0.1 and a new SQLite file, and returns
// when it serves.
func Start(binary, dir string, args ...string) (*Redleaf, error) {
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--http-listen", "", "--init"}, args...)
	p := &Redleaf{cmd: exec.Command(binary, args...), exited: make(chan struct{})}
	p.cmd.Dir = dir
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	serving := make(chan string, 1)
	go p.follow(bufio.NewScanner(stderr), serving)
	select {
	case p.Addr = <-serving:
		return p, nil
	case <-p.exited:
		return nil, fmt.Errorf("redleaf %v did not serve: %v\n%s", args, p.cmd.ProcessState, p.Log())
	}
}

// follow keeps the log, announces the address once, and reaps the process.
func (p *Redleaf) follow(lines *bufio.Scanner, serving chan<- string) {
	servingLine := regexp.MustCompile(`msg=serving addr=(\S+)`)
	announced := false
	for lines.Scan() {
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		p.mu.Unlock()
		if m := servingLine.FindStringSubmatch(lines.Text()); m != nil && !announced {
			serving <- m[1]
			announced = true
		}
	}
	_ = p.cmd.Wait() // ProcessState has the outcome
	close(p.exited)
}

// Pid returns the process id.
func (p *Redleaf) Pid() int { return p.cmd.Process.Pid }

// Log returns what the process has written to standard error so far.
func (p *Redleaf) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// Alive says whether the process still runs.
func (p *Redleaf) Alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Stop asks the process to stop and waits until it is gone.
func (p *Redleaf) Stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails when it is gone already
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.exited
		return errors.New("redleaf did not stop when asked to")
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("redleaf ended with %v", p.cmd.ProcessState)
	}
	return nil
}
