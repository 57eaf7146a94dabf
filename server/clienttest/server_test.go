//go:build clients

package clienttest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is the server under test.
const program = "../../bin/redleaf"

// server is a redleaf that can be restarted on its port and its SQLite file.
type server struct {
	addr string
	args []string
	cmd  *exec.Cmd

	mu  sync.Mutex // protects log
	log strings.Builder
}

// serve starts a redleaf that ends with the test.
func serve(t *testing.T, password string, args ...string) *server {
	t.Helper()
	s := &server{addr: freeAddr(t)}
	s.args = append([]string{"serve", "--init", "--listen", s.addr, "--http-listen", "",
		"--store", "sqlite:" + filepath.Join(t.TempDir(), "redleaf.db")}, args...)
	if password != "" {
		s.args = append(s.args, "--requirepass", password)
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.end(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("log of redleaf:\n%s", s.logged())
		}
	})
	return s
}

// freeAddr finds a port below those that the system gives to outgoing connections: a client that dials a dead port of
// that range again and again may in the end connect to itself, and keep the port from the server.
func freeAddr(t *testing.T) string {
	t.Helper()
	for port := 20000 + os.Getpid()%10000; port < 32000; port++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			defer listener.Close()
			return listener.Addr().String()
		}
	}
	t.Fatal("no free port below 32000")
	return ""
}

// start returns when the server serves.
func (s *server) start() error {
	s.cmd = exec.Command(program, s.args...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	serving, ended := make(chan bool, 1), make(chan bool)
	go func() {
		defer close(ended)
		s.follow(bufio.NewScanner(stderr), serving)
	}()
	select {
	case <-serving:
		return nil
	case <-ended:
		return fmt.Errorf("redleaf did not serve: %w\n%s", s.cmd.Wait(), s.logged())
	case <-time.After(time.Minute):
		s.end(syscall.SIGKILL)
		return fmt.Errorf("redleaf did not serve within a minute:\n%s", s.logged())
	}
}

// follow keeps the log until the process ends.
func (s *server) follow(lines *bufio.Scanner, serving chan<- bool) {
	for lines.Scan() {
		s.mu.Lock()
		fmt.Fprintln(&s.log, lines.Text())
		s.mu.Unlock()
		if strings.Contains(lines.Text(), "msg=serving") {
			serving <- true
		}
	}
}

func (s *server) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// end stops the process with a signal and waits for it.
func (s *server) end(signal syscall.Signal) {
	s.cmd.Process.Signal(signal)
	s.cmd.Wait()
}

// restart takes the server away for a while.
func (s *server) restart(signal syscall.Signal) error {
	s.end(signal)
	time.Sleep(time.Second)
	return s.start()
}
