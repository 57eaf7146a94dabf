//go:build clients

package clienttest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"redleaf/alloc/sqlstore/mariadbtest"
)

// several are clients that know of several nodes, by the door that they take.
func several(door string) []client {
	golang, redis8, node, java := golang(), python("redis8"), node(), java()
	jvm := func(kind string) []string { return append(jvm("Several"), kind) }
	if door == "sentinel" {
		return []client{
			{"go-redis sentinel", golang, []string{"bin/several", "goredis-sentinel"}},
			{"ioredis sentinel", node, []string{"node", "several.mjs", "ioredis-sentinel"}},
			{"redis-py 8 sentinel", redis8, []string{"venv/bin/python", "several.py", "sentinel"}},
		}
	}
	if door == "plain" {
		return []client{
			{"go-redis behind HAProxy", golang, []string{"bin/several", "goredis-plain"}},
			{"ioredis behind HAProxy", node, []string{"node", "several.mjs", "ioredis-plain"}},
			{"redis-py 8 behind HAProxy", redis8, []string{"venv/bin/python", "several.py", "plain"}},
		}
	}
	return []client{
		{"go-redis cluster", golang, []string{"bin/several", "goredis"}},
		{"go-redis cluster, reload 1 s", golang, []string{"bin/several", "goredis-1s"}},
		{"rueidis cluster", golang, []string{"bin/several", "rueidis"}},
		{"ioredis cluster", node, []string{"node", "several.mjs", "ioredis"}},
		{"node-redis 6 cluster", node, []string{"node", "several.mjs", "redis"}},
		{"node-redis 6 cluster, useReplicas", node, []string{"node", "several.mjs", "redis-replicas"}},
		{"redis-py 8 cluster", redis8, []string{"venv/bin/python", "several.py", "cluster"}},
		{"Jedis cluster", java, jvm("jedis")},
		{"Lettuce cluster", java, jvm("lettuce")},
		{"Lettuce cluster, adaptive, 1 s", java, jvm("lettuce-adaptive")},
	}
}

// event is something that happens to the nodes, and how long clients are watched from its begin.
type event struct {
	name    string
	planned bool // costs no client any error
	happen  func(t *testing.T, f *fleet)
	watch   time.Duration
}

func events() []event {
	stop := func(s *server) { s.end(syscall.SIGTERM) }
	start := func(t *testing.T, s *server) {
		t.Helper()
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
	}
	return []event{
		{"steady", true, func(*testing.T, *fleet) {}, 3 * time.Second},
		{"killed", false, func(t *testing.T, f *fleet) { f.choose(t).end(syscall.SIGKILL) }, 12 * time.Second},
		{"added", true, func(t *testing.T, f *fleet) { start(t, f.gone) }, 5 * time.Second},
		{"drained", true, func(t *testing.T, f *fleet) { stop(f.choose(t)) }, 6 * time.Second},
		{"added again", true, func(t *testing.T, f *fleet) { start(t, f.gone) }, 5 * time.Second},
		{"rolling restart", true, func(t *testing.T, f *fleet) {
			for _, s := range f.nodes {
				stop(s)
				start(t, s)
				time.Sleep(4 * time.Second)
			}
		}, 3 * time.Second},
		{"database away 20 s", false, func(t *testing.T, f *fleet) {
			f.db.Kill()
			time.Sleep(20 * time.Second)
			f.db.Restart(t)
		}, 6 * time.Second},
	}
}

// fleet is three nodes on one MariaDB.
type fleet struct {
	db       *mariadbtest.Server
	nodes    []*server
	gone     *server // the one that an event took away
	balancer string  // the address that clients use instead; "": none
}

func newFleet(t *testing.T, door ...string) *fleet {
	t.Helper()
	f := &fleet{db: mariadbtest.StartPrivate(t)}
	store := f.db.Database(t)
	for i := range 3 {
		s := &server{addr: freeAddr(t)}
		s.args = []string{"serve", "--listen", s.addr, "--store", store, "--auto-create", "--http-listen="}
		s.args = append(s.args, door...)
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			s.end(syscall.SIGTERM)
			if t.Failed() {
				t.Logf("log of node %d:\n%s", i, tail(s.logged()))
			}
		})
		f.nodes = append(f.nodes, s)
	}
	time.Sleep(4 * time.Second) // until all have read of all
	return f
}

// choose returns the node that issues most ids, so that clients miss it.
func (f *fleet) choose(t *testing.T) *server {
	t.Helper()
	before := f.issued(t)
	time.Sleep(500 * time.Millisecond)
	most := -1
	for i, n := range f.issued(t) {
		if n-before[i] > most {
			most, f.gone = n-before[i], f.nodes[i]
		}
	}
	return f.gone
}

// addrs is what clients are told.
func (f *fleet) addrs() string {
	if f.balancer != "" {
		return f.balancer
	}
	var all []string
	for _, s := range f.nodes {
		all = append(all, s.addr)
	}
	return strings.Join(all, ",")
}

// issued asks each node how many ids it has issued.
func (f *fleet) issued(t *testing.T) (counts []int) {
	t.Helper()
	for _, s := range f.nodes {
		host, port, _ := strings.Cut(s.addr, ":")
		out, err := exec.CommandContext(t.Context(), "redis-cli", "-h", host, "-p", port, "INFO", "redleaf").Output()
		if err != nil {
			t.Fatalf("redis-cli INFO: %v", err)
		}
		_, rest, _ := strings.Cut(string(out), "segment_ids_issued:")
		digits, _, _ := strings.Cut(rest, "\r")
		n, err := strconv.Atoi(digits)
		if err != nil {
			t.Fatalf("INFO: %v\n%s", err, out)
		}
		counts = append(counts, n)
	}
	return counts
}

// watched is a running client program.
type watched struct {
	client
	cmd    *exec.Cmd
	stderr bytes.Buffer
	heard  chan struct{} // closed at the end of its output

	mu      sync.Mutex // protects everything below
	version string
	phase   int
	phases  []phase
}

// phase is what a client saw during an event.
type phase struct {
	drawn, failed int
	longest       time.Duration // for which a worker got no id
	example       string
}

// ids knows all ids by tag.
type ids struct {
	mu    sync.Mutex // protects everything below
	seen  map[[2]int64]bool
	twice int
}

func (s *ids) add(tag, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]int64{tag, id}
	if s.seen[key] {
		s.twice++
	}
	s.seen[key] = true
}

// watch starts the program; it ends when the file stop is there.
func (c client) watch(ctx context.Context, dir, addrs, stop string, all *ids, phases int) (*watched, error) {
	w := &watched{client: c, cmd: c.command(ctx, dir, addrs, ""), heard: make(chan struct{}), phases: make([]phase, phases)}
	w.cmd.Env = append(w.cmd.Env, "REDLEAF_UP="+stop)
	w.cmd.Stderr = &w.stderr
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(w.heard)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			w.hear(lines.Text(), all)
		}
	}()
	return w, nil
}

func (w *watched) hear(line string, all *ids) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &w.phases[w.phase]
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "version":
		w.version = rest
	case "failed":
		p.failed++
		p.example = rest
	case "drew":
		var tag, id, ms int64
		if _, err := fmt.Sscan(rest, &tag, &id, &ms); err != nil {
			p.failed, p.example = p.failed+1, line
			return
		}
		all.add(tag, id)
		p.drawn++
		p.longest = max(p.longest, time.Duration(ms)*time.Millisecond)
	}
}

// reset forgets what was seen while other clients were starting.
func (w *watched) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phases[0] = phase{}
}

// begun waits for the first id, for a time.
func (w *watched) begun(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		w.mu.Lock()
		begun := w.phases[0].drawn > 0
		w.mu.Unlock()
		if begun {
			return
		}
	}
}

func (w *watched) enter(phase int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase = phase
}

// end waits for the program.
func (w *watched) end() error {
	<-w.heard
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("%v: %w\n%s", w.cmd.Args, err, tail(w.stderr.String()))
	}
	return nil
}

// TestSeveral lets all clients draw from three nodes while these come and go.
func TestSeveral(t *testing.T) {
	t.Run("cluster", func(t *testing.T) { testSeveral(t, "cluster", newFleet(t, "--cluster")) })
	t.Run("plain", func(t *testing.T) {
		f := newFleet(t)
		f.balancer = haproxy(t, f)
		testSeveral(t, "plain", f)
	})
	t.Run("sentinel", func(t *testing.T) { testSeveral(t, "sentinel", newFleet(t, "--sentinel", "ids")) })
}

func testSeveral(t *testing.T, door string, f *fleet) {
	t.Helper()
	all := &ids{seen: map[[2]int64]bool{}}
	steps := events()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	stop := filepath.Join(t.TempDir(), "stop")
	var running []*watched
	dirs, shares := map[string]string{}, map[string]string{}
	for _, c := range several(door) {
		dir, err := c.in.prepare(t.Context())
		if _, missing := errors.AsType[missingError](err); missing && os.Getenv("CI") != "true" {
			t.Logf("%s: not run: %v", c.name, err)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		dirs[c.name], shares[c.name] = dir, f.share(ctx, t, c, dir, all)
	}
	for _, c := range several(door) {
		if dirs[c.name] == "" {
			continue
		}
		w, err := c.watch(ctx, dirs[c.name], f.addrs(), stop, all, len(steps))
		if err != nil {
			t.Fatal(err)
		}
		running = append(running, w)
		w.begun(30 * time.Second)
	}
	for _, w := range running {
		w.reset()
	}
	for i, e := range steps {
		for _, w := range running {
			w.enter(i)
		}
		e.happen(t, f)
		time.Sleep(e.watch)
	}
	if err := os.WriteFile(stop, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, w := range running {
		if err := w.end(); err != nil {
			t.Error(err)
		}
	}
	printSeveral(running, steps, shares)
	judge(t, running, steps, all)
}

// share runs a client alone for a moment and returns the nodes' shares of its ids.
func (f *fleet) share(ctx context.Context, t *testing.T, c client, dir string, all *ids) string {
	t.Helper()
	stop := filepath.Join(t.TempDir(), "stop")
	before := f.issued(t)
	w, err := c.watch(ctx, dir, f.addrs(), stop, all, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.begun(30 * time.Second)
	time.Sleep(3 * time.Second)
	if err := errors.Join(os.WriteFile(stop, nil, 0o644), w.end()); err != nil {
		t.Error(err)
	}
	total, text := 0, []string{}
	after := f.issued(t)
	for i := range after {
		total += after[i] - before[i]
	}
	for i := range after {
		text = append(text, strconv.Itoa((100*(after[i]-before[i])+total/2)/max(1, total)))
	}
	return strings.Join(text, "/")
}

// judge fails the test for what must not be.
func judge(t *testing.T, running []*watched, steps []event, all *ids) {
	t.Helper()
	if all.twice > 0 {
		t.Errorf("%d ids were drawn twice", all.twice)
	}
	for _, w := range running {
		for i, e := range steps {
			p := w.phases[i]
			if e.planned && p.failed > 0 && !slices.Contains(excused(), w.name) {
				t.Errorf("%s, %s: %d draws failed, the last with %s", w.name, e.name, p.failed, p.example)
			}
			if p.drawn == 0 && !slices.Contains(excused(), w.name) {
				t.Errorf("%s, %s: nothing was drawn", w.name, e.name)
			}
		}
	}
}

// excused are clients that do not follow planned changes without an error; docs/nodes.md says why.
func excused() []string { return []string{"node-redis 6 cluster"} }

// printSeveral prints a row of the table in docs/nodes.md for each client: failures and the longest time for which a worker got no id.
func printSeveral(running []*watched, steps []event, shares map[string]string) {
	fmt.Print("| client | shares |")
	for _, e := range steps {
		fmt.Printf(" %s |", e.name)
	}
	fmt.Print("\n| --- | --- |" + strings.Repeat(" --- |", len(steps)) + "\n")
	for _, w := range running {
		fmt.Printf("| %s %s | %s |", w.name, w.version, shares[w.name])
		for i := range steps {
			p := w.phases[i]
			fmt.Printf(" %d, %.1f s |", p.failed, p.longest.Seconds())
		}
		fmt.Println()
	}
	for _, w := range running {
		for i, e := range steps {
			if p := w.phases[i]; p.failed > 0 {
				fmt.Printf("%s, %s: %d drawn, %d failed: %s\n", w.name, e.name, p.drawn, p.failed, short(p.example))
			}
		}
	}
}
