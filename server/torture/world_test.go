package torture

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"redleaf/alloc/sqlstore/faultnet"
	"redleaf/alloc/sqlstore/mariadbtest"
)

// Where ids come from, apart from tags.
const snowflakes = "snowflake"

// What the nodes of the bench are told, so that what takes minutes takes seconds.
const (
	window   = 2 * time.Second
	wait     = time.Second
	sqliteMB = 6
)

// world is everything that a run has.
type world struct {
	t      *testing.T
	binary string
	report *report
	books  *books
	tags   []string
	rng    *rand.Rand
	now    *row // of the fault that is injected

	db    *mariadbtest.Server
	url   string // the nodes' database, as a user with few rights
	admin *sql.DB

	nodes   []*node // on MariaDB, each behind a proxy of its own
	proxies []*faultnet.Proxy
	sqlite  *node
	disk    string // the folder of its file
	small   bool   // disk is a file system of its own

	clients []*client
	work    sync.WaitGroup
}

// root is the folder of the module.
const root = "../.."

// build compiles the program with the bench's clock.
func build(t *testing.T, module string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "redleaf")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", "clockoffset", "-o", binary, "./cmd/redleaf")
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building redleaf: %v\n%s", err, out)
	}
	return binary
}

// newWorld starts the database, the nodes and their clients. All ends with the test.
func newWorld(t *testing.T, binary string, seed uint64) *world {
	w := &world{
		t: t, binary: binary, report: newReport(seed), books: &books{kinds: map[string][]span{}},
		tags: []string{"orders", "messages", "it's 100% odd 日本"},
		rng:  rand.New(rand.NewPCG(seed, 1)),
	}
	w.startDatabase()
	for range 3 {
		proxy, err := faultnet.Start(w.db.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(proxy.Close)
		w.proxies = append(w.proxies, proxy)
		w.nodes = append(w.nodes, w.mustStart(w.newNode(mariadbtest.Through(t, w.url, proxy.Addr()))))
	}
	w.startSQLite()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		w.work.Wait()
	})
	for i, n := range append(w.nodes[:3:3], w.sqlite) {
		for range 2 {
			c := w.newClient(n, i == 3)
			w.work.Go(func() { c.run(ctx) })
		}
	}
	return w
}

// startDatabase starts MariaDB, with a user that may do as little as a node needs: others may write to a read-only server.
func (w *world) startDatabase() {
	w.db = mariadbtest.StartPrivate(w.t)
	full := w.db.Database(w.t)
	w.admin = w.db.Open(w.t, full)
	u, err := url.Parse(full)
	if err != nil {
		w.t.Fatal(err)
	}
	database := strings.TrimPrefix(u.Path, "/")
	for _, q := range []string{"CREATE USER node@'%' IDENTIFIED BY 'secret'", "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON " + database + ".* TO node@'%'"} {
		if _, err := w.admin.ExecContext(w.t.Context(), q); err != nil {
			w.t.Fatal(err)
		}
	}
	u.User = url.UserPassword("node", "secret")
	w.url = u.String()
}

// startSQLite puts a node on a file system that can be filled, where the tests may mount one.
func (w *world) startSQLite() {
	w.disk = w.t.TempDir()
	mount := exec.CommandContext(w.t.Context(), "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", sqliteMB), "tmpfs", w.disk)
	if os.Getuid() == 0 && mount.Run() == nil {
		w.small = true
		w.t.Cleanup(func() {
			if out, err := exec.Command("umount", w.disk).CombinedOutput(); err != nil {
				w.t.Errorf("umount: %v\n%s", err, out)
			}
		})
	}
	w.sqlite = w.mustStart(w.newNode("sqlite:" + filepath.Join(w.disk, "ids.db")))
}

// newNode is a node that has not started. It ends with the test.
func (w *world) newNode(store string, args ...string) *node {
	n := &node{binary: w.binary, dir: w.t.TempDir(), report: w.report, args: append([]string{
		"--store", store, "--init", "--auto-create", "--step", "100", "--wait", wait.String(), "--window", window.String(),
		"--statement-timeout", "1s", "--worker-ids", "0-15", // few, so that nodes meet on them
	}, args...)}
	w.t.Cleanup(func() {
		if n.gone() != nil {
			n.kill()
		}
	})
	return n
}

func (w *world) mustStart(n *node) *node {
	if err := n.start(); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) newClient(n *node, sqlite bool) *client {
	store := "mariadb/"
	if sqlite {
		store = "sqlite/"
	}
	c := &client{
		w: w, node: n, store: store, rng: rand.New(rand.NewPCG(w.rng.Uint64(), 2)),
		harvest: newHarvest(),
	}
	w.clients = append(w.clients, c)
	return c
}

// harvest enters what the clients received since the last time into the books and the row of the report.
func (w *world) harvest(r *row) {
	for _, c := range w.clients {
		h := c.take()
		before, dups := w.books.counts()
		for kind, s := range h.received {
			w.books.enter(kind, *s)
		}
		after, dupsAfter := w.books.counts()
		r.ids += after - before
		r.duplicates += dupsAfter - dups
		r.single += h.single
		r.silence = max(r.silence, h.silence)
		for _, n := range h.errs {
			r.errors += n
		}
		for _, b := range h.broken {
			w.report.complain(r.name, b)
		}
	}
}

// awaitAll waits until every node draws both kinds again, and returns how long the last one took.
func (w *world) awaitAll(r *row) (time.Duration, error) {
	begin := time.Now()
	for i, n := range append(w.nodes[:3:3], w.sqlite) {
		for {
			err := w.probe(n, i == 3, r)
			if err == nil {
				break
			}
			if time.Since(begin) > time.Minute {
				return time.Since(begin), fmt.Errorf("node %d does not recover: %w\n%s", i, err, n.logged())
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return time.Since(begin), nil
}

// probe draws once of each kind from a node. What clients received goes to the row.
func (w *world) probe(n *node, sqlite bool, r *row) error {
	c := w.newClient(n, sqlite)
	defer func() { w.clients = w.clients[:len(w.clients)-1] }()
	draws := []draw{{snowflakes, request("GET", "snowflake:x"), 1, false}}
	for _, tag := range w.tags {
		draws = append(draws, draw{tag, request("INCR", "segment:"+tag), 1, false})
	}
	err := c.once(draws)
	w.harvest(r)
	return err
}

// drawFrom has clients draw from nodes for a while, and enters what they receive into the row.
func (w *world) drawFrom(d time.Duration, nodes ...*node) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	visitors := &world{books: w.books, report: w.report, tags: w.tags, rng: w.rng}
	var drawing sync.WaitGroup
	for _, n := range nodes {
		c := visitors.newClient(n, false)
		drawing.Go(func() { c.run(ctx) })
	}
	drawing.Wait()
	visitors.harvest(w.now)
}
