package main

import (
	"database/sql"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A SQLite file that lost its write-ahead log after a crash is refused by name, until the recovery skips what may have
// been in it: ids at once, and worker ids when their windows have passed.
func TestLostLog(t *testing.T) {
	store := newSQLite(t)
	file := strings.TrimPrefix(store, "sqlite:")
	p := startProcess(t, "--init", "--store", store)
	last := number(t, redisCLI(t, p.addr, "INCRBY", "segment:orders", "5000"))
	p.kill()
	if err := os.Remove(file + "-wal"); err != nil {
		t.Fatal(err)
	}
	refuses(t, store, file, "redleaf recover")
	if out := recovered(t, store, "1000000"); !strings.Contains(out, "--modes segment") {
		t.Errorf("recover does not say what a node without a worker id does:\n%s", out)
	}
	refuses(t, store, "no free worker id")
	q := startProcess(t, "--modes", "segment", "--store", store)
	if first := number(t, redisCLI(t, q.addr, "INCR", "segment:orders")); first <= last {
		t.Errorf("%d follows %d", first, last)
	}
}

// Another program that opens the file after a crash moves the log into it: nothing is lost, and an operator who says so
// has a node at once.
func TestLogTakenIn(t *testing.T) {
	store := newSQLite(t)
	file := strings.TrimPrefix(store, "sqlite:")
	p := startProcess(t, "--init", "--store", store)
	last := number(t, redisCLI(t, p.addr, "INCRBY", "segment:orders", "5000"))
	stamp := number(t, redisCLI(t, p.addr, "GET", "snowflake:orders"))
	p.kill()
	takeInLog(t, file)
	refuses(t, store, file, "redleaf recover")
	recovered(t, store, "0")
	q := startProcess(t, "--store", store)
	if first := number(t, redisCLI(t, q.addr, "INCR", "segment:orders")); first <= last {
		t.Errorf("%d follows %d", first, last)
	}
	if next := number(t, redisCLI(t, q.addr, "GET", "snowflake:orders")); next <= stamp {
		t.Errorf("%d follows %d", next, stamp)
	}
}

// takeInLog opens and closes the file as any program does, which moves its write-ahead log into it.
func takeInLog(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err == nil {
		err = errors.Join(db.Ping(), db.QueryRow("SELECT COUNT(*) FROM leaf_alloc").Scan(new(int)), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file + "-wal"); err == nil {
		t.Fatal("the log is still there")
	}
}

// refuses checks that no node starts on the store, and that the message has the words.
func refuses(t *testing.T, store string, words ...string) {
	t.Helper()
	_, stderr, status := command(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--http-listen", "", "--init", "--store", store)
	for _, word := range words {
		if status != 1 || !strings.Contains(stderr, word) {
			t.Fatalf("exit status %d, want 1 and %q\n%s", status, word, stderr)
		}
	}
}

// recovered runs the recovery and returns what it printed.
func recovered(t *testing.T, store, gap string) string {
	t.Helper()
	out, stderr, status := command(t, t.TempDir(), "recover", "--store", store, "--gap", gap, "--failover-wait", "1s")
	if status != 0 {
		t.Fatalf("recover: exit status %d\n%s%s", status, out, stderr)
	}
	return out
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
