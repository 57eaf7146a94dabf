//go:build clients

package clienttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mode is a server and how clients get in.
type mode struct {
	name     string
	password string
	signal   syscall.Signal // ends the server under the client's hands
	server   *server
	all      ledger // ids of all clients of this server
}

// test runs the program of a client once, with a restart of the server in the middle.
func (c client) test(t *testing.T, dir string, m mode, row *result) {
	t.Helper()
	row.outcome = "failed"
	got, err := c.draw(t, dir, m)
	row.version, row.connected = got.version, len(got.ids) > 0
	row.ids, row.failed, row.example = len(got.ids), got.failed, got.example
	row.duplicates = m.all.add(c.tag(), got.ids)
	if err != nil {
		t.Fatal(err)
	}
	got.check(t)
	if row.duplicates > 0 {
		t.Errorf("%d ids were drawn twice", row.duplicates)
	}
	if !t.Failed() {
		row.outcome = "ok"
	}
}

// tag is the name of a tag for this client alone.
func (c client) tag() string { return strings.ReplaceAll(c.name, " ", "-") }

// draw runs the program to its end, with a deadline.
func (c client) draw(t *testing.T, dir string, m mode) (*said, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	up := filepath.Join(t.TempDir(), "up")
	cmd := c.command(ctx, dir, m.server.addr, m.password)
	cmd.Env = append(cmd.Env, "REDLEAF_TAG="+c.tag(), "REDLEAF_SHARED=shared", "REDLEAF_UP="+up)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return &said{}, err
	}
	if err := cmd.Start(); err != nil {
		return &said{}, err
	}
	outage := make(chan error, 1)
	got, err := listen(stdout, func() { go func() { outage <- m.outage(up) }() })
	if err != nil {
		cancel()
	}
	if ended := cmd.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("%v: %w\n%s", cmd.Args, ended, tail(stderr.String())))
	}
	if got.ready {
		err = errors.Join(err, <-outage)
	}
	return got, err
}

// command is the program with its address and password in the environment.
func (c client) command(ctx context.Context, dir, addr, password string) *exec.Cmd {
	name := c.run[0]
	if strings.Contains(name, "/") {
		name = filepath.Join(dir, name)
	}
	cmd := exec.CommandContext(ctx, name, c.run[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "REDLEAF_ADDR="+addr, "REDLEAF_PASSWORD="+password)
	// What a killed program left running must not keep its output open.
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// outage takes the server away while the client draws, and says when it is back.
func (m mode) outage(up string) error {
	time.Sleep(200 * time.Millisecond)
	if err := m.server.restart(m.signal); err != nil {
		return err
	}
	return os.WriteFile(up, nil, 0o644)
}

// tail shortens what a program complained about: some repeat themselves at every failed reconnect.
func tail(text string) string {
	const most = 4000
	if len(text) <= most {
		return text
	}
	return "... " + text[len(text)-most:]
}
