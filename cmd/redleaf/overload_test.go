package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	overloadConns = 200
	overloadDepth = 5000
	overloadTime  = time.Second      // after the last connection was served for the first time
	overloadLimit = 60 * time.Second // for that
	overloadRSS   = 400 << 20        // bytes; 200 connections that don't read what they ask for, in a build with the race detector
)

// Many connections send without end, faster than the node serves, and half of them do not read: every one that reads is
// served, what the node keeps for them stays bounded, and when they stop the node answers at once.
func TestOverload(t *testing.T) {
	p := startProcess(t, "--init", "--store", newSQLite(t), "--max-step", "10000000")
	request := bytes.Repeat([]byte("INCR segment:orders\r\n"), overloadDepth)
	ctx, cancel := context.WithTimeout(t.Context(), overloadLimit)
	defer cancel()
	var unserved sync.WaitGroup
	served := make([]int, overloadConns)
	var flooding sync.WaitGroup
	for i := range served {
		conn, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		flooding.Go(func() {
			for _, err := conn.Write(request); err == nil; {
				_, err = conn.Write(request)
			}
		})
		if i%2 == 0 {
			unserved.Add(1)
			flooding.Go(func() { served[i] = countReplies(conn, unserved.Done) })
		}
	}
	unserved.Wait()
	pauseUntil(ctx, overloadTime)
	cancel()
	flooding.Wait()
	begun := time.Now()
	if got := redisCLI(t, p.addr, "PING"); got != "PONG" {
		t.Errorf("PING after the flood: %s", got)
	}
	took := time.Since(begun)
	var least, all int
	for i := 0; i < len(served); i += 2 {
		if all += served[i]; i == 0 || served[i] < least {
			least = served[i]
		}
	}
	if least == 0 {
		t.Error("a connection was not served at all")
	}
	rss := peakMemory(t, p.cmd.Process.Pid)
	if rss > overloadRSS {
		t.Errorf("the node took %d MB", rss>>20)
	}
	t.Logf("%d replies, the least to one connection %d, the most %d; %d MB; PING then took %v", all, least, slices.Max(served), rss>>20, took)
}

// countReplies reads replies until the connection ends. After the first, or in the end, it calls begun.
func countReplies(conn net.Conn, begun func()) (n int) {
	replies := bufio.NewScanner(conn)
	for replies.Scan() {
		if n++; n == 1 {
			begun()
		}
	}
	if n == 0 {
		begun()
	}
	return n
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory is the most memory that a process had, in bytes.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := peakLine.FindSubmatch(status)
	if m == nil {
		t.Fatalf("no VmHWM in\n%s", status)
	}
	kB, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}
