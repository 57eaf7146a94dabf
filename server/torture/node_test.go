package torture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// node is a redleaf that is started again and again on one address.
type node struct {
	binary, dir string
	args        []string
	addr        string // of the Redis port, kept over restarts
	report      *report

	taken sync.Mutex // held by the fault that stops, pauses or misleads it

	mu     sync.Mutex // protects what follows
	cmd    *exec.Cmd
	exited chan struct{}
	log    strings.Builder // since the last start
}

// start runs the program and returns when it serves, or with what it said when it ended.
func (n *node) start() error {
	listen := n.addr
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	cmd := exec.Command(n.binary, append([]string{"serve", "--listen", listen, "--http-listen", ""}, n.args...)...)
	cmd.Dir = n.dir
	cmd.Env = append(os.Environ(), "REDLEAF_CLOCK_OFFSET_FILE="+n.clockFile())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	exited, serving := make(chan struct{}), make(chan string, 1)
	n.mu.Lock()
	n.cmd, n.exited = cmd, exited
	n.log.Reset()
	n.mu.Unlock()
	go n.follow(cmd, bufio.NewScanner(stderr), serving, exited)
	select {
	case addr := <-serving:
		if n.addr == "" { // clients read it from then on
			n.addr = addr
		}
		return nil
	case <-exited:
		return fmt.Errorf("redleaf did not serve: %v\n%s", cmd.ProcessState, n.logged())
	case <-time.After(time.Minute):
		n.kill()
		return fmt.Errorf("redleaf does not serve after a minute\n%s", n.logged())
	}
}

// restart starts the program as a supervisor does: again, when another fault at the same time keeps it from starting. What
// it says then is in the report's log.
func (n *node) restart() error { return n.restartUnless(func() bool { return false }) }

// restartUnless is restart that gives up where that is so after an attempt.
func (n *node) restartUnless(hopeless func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		err := n.start()
		if err == nil || ctx.Err() != nil || hopeless() {
			return err
		}
		sleep(ctx, time.Second/2)
	}
}

func (n *node) clockFile() string { return filepath.Join(n.dir, "clock") }

func (n *node) follow(cmd *exec.Cmd, lines *bufio.Scanner, serving chan<- string, exited chan<- struct{}) {
	servingLine := regexp.MustCompile(`msg=serving addr=(\S+)`)
	for lines.Scan() {
		n.mu.Lock()
		n.log.WriteString(lines.Text() + "\n")
		n.mu.Unlock()
		n.report.logged(lines.Text())
		if m := servingLine.FindStringSubmatch(lines.Text()); m != nil {
			select {
			case serving <- m[1]:
			default:
			}
		}
	}
	_ = cmd.Wait() // ProcessState has the outcome
	close(exited)
}

func (n *node) logged() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.String()
}

// worker returns the worker id that the node claimed last.
func (n *node) worker() string {
	all := regexp.MustCompile(`msg="worker id claimed" worker=(\d+)`).FindAllStringSubmatch(n.logged(), -1)
	if len(all) == 0 {
		return "0"
	}
	return all[len(all)-1][1]
}

func (n *node) signal(s syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd != nil {
		_ = n.cmd.Process.Signal(s) // fails only when it has ended
	}
}

func (n *node) gone() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.exited
}

// kill ends the process as a power loss would.
func (n *node) kill() {
	n.signal(syscall.SIGKILL)
	<-n.gone()
}

// stop asks the process to stop and waits.
func (n *node) stop() error {
	n.signal(syscall.SIGTERM)
	select {
	case <-n.gone():
		return nil
	case <-time.After(30 * time.Second):
		n.kill()
		return errors.New("redleaf did not stop within 30 s")
	}
}

// stepClock sets the process's wall clock off.
func (n *node) stepClock(by time.Duration) error {
	temp := n.clockFile() + ".new"
	if err := os.WriteFile(temp, []byte(strconv.FormatInt(by.Milliseconds(), 10)), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, n.clockFile())
}
