package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// startAtOnce is how many nodes of a fleet start at a time.
const startAtOnce = 8

// A fleet is many nodes on one database.
type fleet struct {
	database *server
	nodes    []*server
}

// startFleet starts a MariaDB and nodes on it.
func (s *suite) startFleet(ctx context.Context, size int, args ...string) (*fleet, error) {
	database, err := s.startMariaDB(ctx, "--max-connections=20000")
	if err != nil {
		return nil, err
	}
	f := &fleet{database: database, nodes: make([]*server, size)}
	args = append([]string{"--auto-create", "--store", "mysql://bench:bench@" + database.addr + "/ids"}, args...)
	errs := make([]error, size)
	var starting sync.WaitGroup
	slots := make(chan struct{}, startAtOnce)
	for i := range f.nodes {
		starting.Go(func() {
			slots <- struct{}{}
			f.nodes[i], errs[i] = s.startRedleaf(ctx, "redleaf", args...)
			<-slots
		})
	}
	starting.Wait()
	if err := errors.Join(errs...); err != nil {
		f.stop()
		return nil, err
	}
	return f, nil
}

// stop ends all at once: nobody needs what the nodes would give back.
func (f *fleet) stop() {
	for _, n := range f.nodes {
		if n != nil {
			_ = n.cmd.Process.Kill()
			<-n.gone
		}
	}
	f.database.stop()
}

// await waits until a node of the fleet knows all others.
func (f *fleet) await(ctx context.Context) error {
	want := fmt.Sprintf("cluster_known_nodes:%d\r\n", len(f.nodes))
	for {
		info, err := clusterInfo(ctx, f.nodes[0].addr)
		if err != nil {
			return err
		}
		if strings.Contains(info, want) {
			return nil
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// clusterInfo asks a node for CLUSTER INFO.
func clusterInfo(ctx context.Context, addr string) (string, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "CLUSTER INFO\r\n"); err != nil {
		return "", err
	}
	replies := bufio.NewReader(c)
	head, err := replies.ReadString('\n')
	if err != nil {
		return "", err
	}
	size, err := number(strings.TrimPrefix(head, "$"))
	if err != nil || size < 0 {
		return "", fmt.Errorf("CLUSTER INFO answers %q", head)
	}
	text := make([]byte, size)
	_, err = io.ReadFull(replies, text)
	return string(text), err
}
