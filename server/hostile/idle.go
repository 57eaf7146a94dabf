package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"
)

// idleClients fit below the 10,000 that both servers allow, with the good client and those that look.
const idleClients = 9_990

// idle compares the memory of idle connections with a real Redis's, both just started: what a process has kept from
// earlier would hide what it needs.
func idle(v *victim, _ *goodClient, report *strings.Builder) error {
	fresh, err := newVictim(v.binary, v.dir, "--store", "sqlite:idle.db")
	if err != nil {
		return err
	}
	defer fresh.close()
	other, err := newGoodClient(fresh.Addr)
	if err != nil {
		return err
	}
	defer other.stop()
	other.rest()
	ours, err := idleMemory(fresh.Addr, fresh.usage())
	if err != nil {
		return fmt.Errorf("redleaf: %w", err)
	}
	during, err := other.mark(), other.undisturbed()
	if err != nil {
		return err
	}
	redis, err := startRedis(v.dir)
	if err != nil {
		return err
	}
	defer redis.stop()
	theirs, err := idleMemory(redis.addr, usage{redis.cmd.Process.Pid})
	if err != nil {
		return fmt.Errorf("redis-server: %w", err)
	}
	fmt.Fprintf(report, "## Idle connections\n\n%d connections, and the same to a real redis-server %s in the same run. Resident bytes of the process for each connection:\n\n"+
		"| | redleaf | Redis |\n| --- | --- | --- |\n", idleClients, redis.version)
	for i, what := range []string{"connected, nothing sent", "after one PING each", "5 s later"} {
		fmt.Fprintf(report, "| %s | %d | %d |\n", what, ours[i]/idleClients, theirs[i]/idleClients)
	}
	fmt.Fprintf(report, "\nA good client of redleaf meanwhile: %s.\n\n", other.describe(during))
	return nil
}

// idleMemory returns how much the process grew when clients had connected, had sent a PING, and had been quiet for a
// while.
func idleMemory(addr string, u usage) (grown [3]int64, err error) {
	before := u.now()
	conns, err := connect(addr, idleClients)
	defer closeAll(conns)
	if err != nil {
		return grown, err
	}
	time.Sleep(time.Second) // for the server to have accepted the last
	grown[0] = u.now() - before
	for _, conn := range conns {
		if err := ping(conn); err != nil {
			return grown, err
		}
	}
	grown[1] = u.now() - before
	time.Sleep(5 * time.Second)
	grown[2] = u.now() - before
	return grown, nil
}

func ping(conn net.Conn) error {
	conn.SetDeadline(time.Now().Add(dialTimeout))
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return err
	}
	got := make([]byte, len("+PONG\r\n"))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "+PONG\r\n" {
		return fmt.Errorf("PING: %q, %w", got, err)
	}
	return nil
}

// redis is a real redis-server.
type redis struct {
	cmd           *exec.Cmd
	addr, version string
}

func startRedis(dir string) (*redis, error) {
	out, err := exec.CommandContext(context.Background(), "redis-server", "--version").Output()
	if err != nil {
		return nil, err
	}
	_, version, _ := strings.Cut(string(out), "v=")
	version, _, _ = strings.Cut(version, " ")
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(addr)
	r := &redis{exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir), addr, version}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(dialTimeout); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.DialTimeout("tcp", addr, dialTimeout)
		if err == nil {
			conn.Close()
			return r, nil
		}
		if time.Now().After(end) {
			r.stop()
			return nil, err
		}
	}
}

func (r *redis) stop() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait() // killed, as it should be
}

// freeAddr returns an address that nothing listens at.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
