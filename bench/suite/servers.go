package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 20 * time.Second
)

// A server is a process that was started here.
type server struct {
	name    string
	command string // as it was started, with no paths and no secrets
	addr    string
	cmd     *exec.Cmd
	gone    chan struct{} // closed when it has ended
}

func (s *server) pid() int { return s.cmd.Process.Pid }

// url is what redleaf-bench is told.
func (s *server) url() string { return "redis://" + s.addr }

// stop asks the server to end, makes it, and waits.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // fails when it has ended
	select {
	case <-s.gone:
	case <-time.After(stopTimeout):
		_ = s.cmd.Process.Kill()
		<-s.gone
	}
}

// startRedleaf starts redleaf on a free port and returns when it serves.
func (s *suite) startRedleaf(ctx context.Context, name string, args ...string) (*server, error) {
	dir, err := os.MkdirTemp(s.dir, "redleaf")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(s.redleaf, append([]string{"serve", "--listen", "127.0.0.1:0", "--http-listen="}, args...)...) //nolint:noctx // stop ends it in order
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	srv := &server{name: name, command: "redleaf serve " + strings.Join(args, " "), cmd: cmd, gone: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	addr := make(chan string, 1)
	said := new(strings.Builder)
	go srv.follow(stderr, said, addr)
	select {
	case srv.addr = <-addr:
		return srv, nil
	case <-srv.gone:
		return nil, fmt.Errorf("redleaf did not serve:\n%s", said)
	case <-ctx.Done():
		srv.stop()
		return nil, context.Cause(ctx)
	}
}

// follow reads redleaf's log, passes on the address in it, and reaps the process.
func (s *server) follow(stderr io.Reader, said *strings.Builder, addr chan<- string) {
	serving := regexp.MustCompile(`msg=serving addr=(\S+)`)
	announced := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		m := serving.FindStringSubmatch(lines.Text())
		switch {
		case announced: // the log grows no further here
		case m != nil:
			addr <- m[1]
			announced = true
		default:
			said.WriteString(lines.Text() + "\n")
		}
	}
	_ = s.cmd.Wait()
	close(s.gone)
}

// startRedis starts a Redis that writes nothing to disk, which is when it is fastest.
func (s *suite) startRedis(ctx context.Context) (*server, error) {
	args := []string{"--bind", "127.0.0.1", "--save", "''", "--appendonly", "no", "--maxclients", fmt.Sprint(idleConnections + 100)}
	srv := &server{name: "Redis", command: "redis-server " + strings.Join(args, " ")}
	args[3] = "" // where no shell takes the quotes away
	return srv, s.start(ctx, srv, "redis-server", func(port string) []string { return append(args, "--port", port, "--dir", s.dir) })
}

// start starts a program on a free port and waits until it accepts connections.
func (s *suite) start(ctx context.Context, srv *server, program string, args func(port string) []string) error {
	path, err := find(program)
	if err != nil {
		return err
	}
	if srv.addr, err = freeAddr(ctx); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(srv.addr)
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(s.dir, program+"-"+port+".log"))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()         //  the process has its own handle
	srv.cmd = exec.Command(path, args(port)...) //nolint:noctx // stop ends it in order
	srv.cmd.Stdout, srv.cmd.Stderr = file, file
	if err := srv.cmd.Start(); err != nil {
		return err
	}
	srv.gone = make(chan struct{})
	go func() {
		_ = srv.cmd.Wait()
		close(srv.gone)
	}()
	if err := srv.await(ctx); err != nil {
		srv.stop()
		said, readErr := os.ReadFile(file.Name())
		return errors.Join(fmt.Errorf("%s: %w\n%s", program, err, said), readErr)
	}
	return nil
}

// await waits until the server accepts connections: it has no other way to say that it is up.
func (s *server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var dialer net.Dialer
	for {
		c, err := dialer.DialContext(ctx, "tcp", s.addr)
		if err == nil {
			return c.Close()
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.gone:
			return errors.New("it has ended")
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", err)
		}
	}
}

// find returns the path of a server's program.
func find(name string) (string, error) {
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/usr/bin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: run make deps", name)
}

func freeAddr(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
