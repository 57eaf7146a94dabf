package main

import (
	"bufio"
	"database/sql"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redleaf/alloc/sqlstore/faultnet"
	"redleaf/alloc/sqlstore/mariadbtest"
)

const (
	stuckCallers = 2000 // connections that call for the tag that gets no ids
	stuckTime    = 6 * time.Second
	goroutinesOf = 2  // each of them, while it waits
	nodeConns    = 23 // database connections that a node may have: docs/planning.md
)

// One tag's row is locked by another transaction and 2,000 connections call for it: they get TRYAGAIN after --wait, all
// else is answered while they wait, nothing piles up, and all are served once the lock goes.
func TestLockedRow(t *testing.T) {
	db := mariadbtest.Start(t)
	store := db.Database(t)
	s := startStuck(t, store)
	raw := db.Open(t, store)
	tx, err := raw.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "UPDATE leaf_alloc SET step = step WHERE biz_tag = 'stuck'"); err != nil {
		t.Fatal(err)
	}
	s.callInVain(func() {
		s.draw("INCRBY", "segment:other", "3000") // more than is buffered: it is leased meanwhile
		if n := connections(t, raw); n > nodeConns {
			t.Errorf("the node has %d database connections", n)
		}
	})
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	s.callUntilServed()
}

// The database takes what is sent to it and answers nothing, without an error.
func TestSilentDatabase(t *testing.T) {
	db := mariadbtest.Start(t)
	store := db.Database(t)
	proxy, err := faultnet.Start(db.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	s := startStuck(t, mariadbtest.Through(t, store, proxy.Addr()))
	raw := db.Open(t, store)
	proxy.Set(faultnet.Blackhole)
	s.callInVain(func() { s.draw("INCR", "segment:other") }) // from what is buffered
	proxy.Set(faultnet.Pass)
	s.callUntilServed()
	if n := connections(t, raw); n > nodeConns {
		t.Errorf("the node has %d database connections", n)
	}
}

// connections counts the database's connections, except the one that asks.
func connections(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) - 1 FROM information_schema.processlist WHERE db = DATABASE()").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// stuck is a node whose tag "stuck" cannot be leased, and its many callers.
type stuck struct {
	t       *testing.T
	p       *process
	web     string
	callers []*caller
}

// startStuck starts the node with its buffers full, and connects the callers.
func startStuck(t *testing.T, store string) *stuck {
	s := &stuck{t: t}
	s.p, s.web = startWeb(t, "--auto-create", "--wait", "2s", "--store", store)
	for _, tag := range []string{"stuck", "other"} {
		redisCLI(t, s.p.addr, "INCR", "segment:"+tag)
	}
	for range stuckCallers {
		conn, err := net.Dial("tcp", s.p.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		s.callers = append(s.callers, &caller{conn: conn, replies: bufio.NewReaderSize(conn, 128)})
	}
	return s
}

// caller is a connection that asks for more ids than a segment has.
type caller struct {
	conn    net.Conn
	replies *bufio.Reader
}

func (c *caller) call() (string, error) {
	if _, err := c.conn.Write([]byte("INCRBY segment:stuck 100000\r\n")); err != nil {
		return "", err
	}
	if err := c.conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return "", err
	}
	reply, err := c.replies.ReadString('\n')
	return strings.TrimSpace(reply), err
}

// callInVain has all callers call again and again for a while. Meanwhile the node answers everything else, which also
// covers what is told.
func (s *stuck) callInVain(also func()) {
	s.t.Helper()
	end := time.Now().Add(stuckTime)
	var calling sync.WaitGroup
	var waiting, refused atomic.Int64
	for _, c := range s.callers {
		calling.Go(func() {
			for time.Now().Before(end) {
				waiting.Add(1)
				reply, err := c.call()
				waiting.Add(-1)
				if refused.Add(1); err != nil || !strings.HasPrefix(reply, "-TRYAGAIN ") {
					s.t.Errorf("a call for the tag that can't be leased: %q, %v", reply, err)
					return
				}
			}
		})
	}
	probes, slowest := 0, time.Duration(0)
	for time.Now().Before(end) {
		begun := time.Now()
		s.probe()
		also()
		slowest = max(slowest, time.Since(begun))
		probes++
		time.Sleep(20 * time.Millisecond)
	}
	if n := s.goroutines(); n > goroutinesOf*len(s.callers)+100 {
		s.t.Errorf("%d goroutines", n)
	}
	calling.Wait()
	s.t.Logf("%d calls refused; %d rounds of other calls answered meanwhile, the slowest in %v", refused.Load(), probes, slowest)
}

// probe draws and asks what must be answered in any case.
func (s *stuck) probe() {
	s.t.Helper()
	if got := redisCLI(s.t, s.p.addr, "PING"); got != "PONG" {
		s.t.Errorf("PING: %s", got)
	}
	s.draw("GET", "snowflake:any")
	for _, path := range []string{"/", "/healthz", "/metrics"} {
		if status, _ := fetch(s.t, http.MethodGet, s.web+path); status != http.StatusOK {
			s.t.Errorf("%s: %d", path, status)
		}
	}
}

func (s *stuck) draw(command ...string) {
	s.t.Helper()
	answer := redisCLI(s.t, s.p.addr, command...)
	if _, err := strconv.ParseInt(answer, 10, 64); err != nil {
		s.t.Errorf("%v: %s", command, answer)
	}
}

// callUntilServed has every caller call until it gets ids.
func (s *stuck) callUntilServed() {
	s.t.Helper()
	begun := time.Now()
	var calling sync.WaitGroup
	for _, c := range s.callers {
		calling.Go(func() {
			for {
				reply, err := c.call()
				if err == nil && strings.HasPrefix(reply, ":") {
					return
				}
				if err != nil || time.Since(begun) > 20*time.Second {
					s.t.Errorf("a call after the fault: %q, %v", reply, err)
					return
				}
			}
		})
	}
	calling.Wait()
	s.t.Logf("all served %v after the fault", time.Since(begun))
}

var goroutineCount = regexp.MustCompile(`goroutine profile: total (\d+)`)

func (s *stuck) goroutines() int {
	s.t.Helper()
	_, body := fetch(s.t, http.MethodGet, s.web+"/debug/pprof/goroutine?debug=1")
	m := goroutineCount.FindStringSubmatch(body)
	if m == nil {
		s.t.Fatal("no profile of goroutines: ", body)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
