package torture

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"redleaf/alloc/sqlstore/faultnet"
)

// slack is what a busy machine adds to a wait.
const slack = 4 * time.Second

// fault is one kind of fault.
type fault struct {
	name, expected string
	limit          time.Duration // longest silence allowed
	alone          bool          // it is not combined with others
	inject         func(w *world, rng *rand.Rand) error
}

// faults are all kinds.
func faults() []fault {
	answer := wait + slack
	all := []fault{
		{"node killed, started again", "others go on; its ranges are a gap", answer, false, killed},
		{"node stopped, started again", "unused ids given back where nobody leased after", answer, false, stopped},
		{"node paused beyond its window", "silent meanwhile, then another window", 4*time.Second + answer, false, paused},
		{"node paused, another started in its place, the first woken", "the first claims another worker id", 15*time.Second + answer, false, replaced},
		{"two nodes started at once, then killed", "different worker ids and ranges", answer, false, twins},
		{"database killed, started again", "what is owned is served, then TRYAGAIN", answer, true, databaseKilled},
		{"database read-only", "what is owned is served, then TRYAGAIN", answer, true, readOnly},
		{"database connections killed", "nothing, or TRYAGAIN", answer, false, connectionsKilled},
		{"one tag's row locked", "that tag: TRYAGAIN", answer, false, rowLocked},
		{"clock minutes ahead, then back", "ids at most --max-skew ahead", answer, false, clockAhead},
		{"clock minutes back, then right", "nothing", answer, false, clockBack},
		{"start with a clock minutes off", "refused, with both times", answer, false, wrongStart},
		{"start with another layout", "refused, with both layouts", answer, false, otherLayout},
		{"SQLite node killed, started again", "its ranges are a gap", answer, false, sqliteKilled},
		{"SQLite disk full", "what is owned is served, then TRYAGAIN", answer, false, diskFull},
	}
	for _, m := range []faultnet.Mode{faultnet.Delay, faultnet.Blackhole, faultnet.Trickle, faultnet.CutReply, faultnet.CutBefore, faultnet.Refuse} {
		all = append(all, fault{"network: " + m.String(), "that node: what is owned is served, then TRYAGAIN", answer, false, network(m)})
	}
	return all
}

// dwell lets a fault last.
func dwell(rng *rand.Rand, least, most time.Duration) {
	time.Sleep(least + time.Duration(rng.Int64N(int64(most-least))))
}

// take picks a node for a fault that is about processes or clocks. A node undergoes one of these at a time: two that stop
// and start it would start it twice. The caller gives it back with the function returned.
func (w *world) take(rng *rand.Rand) (*node, func()) {
	n := w.nodes[rng.IntN(len(w.nodes))]
	n.taken.Lock()
	return n, n.taken.Unlock
}

func killed(w *world, rng *rand.Rand) error {
	n, giveBack := w.take(rng)
	defer giveBack()
	n.kill()
	return n.restart()
}

func stopped(w *world, rng *rand.Rand) error {
	n, giveBack := w.take(rng)
	defer giveBack()
	return errors.Join(n.stop(), n.restart())
}

func paused(w *world, rng *rand.Rand) error {
	n, giveBack := w.take(rng)
	defer giveBack()
	n.signal(syscall.SIGSTOP)
	dwell(rng, window+time.Second/2, 4*time.Second)
	n.signal(syscall.SIGCONT)
	return nil
}

// twins starts two nodes at the same instant, draws from them, and kills them.
func twins(w *world, rng *rand.Rand) error {
	nodes := [2]*node{w.newNode(w.url), w.newNode(w.url)}
	started := make(chan error, len(nodes))
	for _, n := range nodes {
		go func() { started <- n.restart() }()
	}
	err := errors.Join(<-started, <-started)
	if err == nil {
		w.drawFrom(time.Second+time.Duration(rng.IntN(2000))*time.Millisecond, nodes[:]...)
	}
	for _, n := range nodes {
		n.kill()
	}
	return err
}

// replaced pauses a node beyond its window, starts another one on its worker id, and wakes the first.
func replaced(w *world, rng *rand.Rand) error {
	paused, giveBack := w.take(rng)
	defer giveBack()
	id := paused.worker()
	paused.signal(syscall.SIGSTOP)
	time.Sleep(window + window/2)
	other := w.newNode(w.url, "--worker-ids", id+"-"+id)
	taken := func() bool { return w.others(paused, id) } // by a node that another fault started
	err := other.restartUnless(taken)                    // the window of a node whose clock was ahead lasts longer
	paused.signal(syscall.SIGCONT)
	switch {
	case err == nil:
		w.drawFrom(time.Second+time.Duration(rng.IntN(2000))*time.Millisecond, other, paused)
		other.kill()
	case taken(): // that one is in its place
		return nil
	}
	return err
}

// others reports whether another node than n claimed the worker id last.
func (w *world) others(n *node, id string) bool {
	return slices.ContainsFunc(w.nodes, func(o *node) bool { return o != n && o.worker() == id })
}

func databaseKilled(w *world, rng *rand.Rand) error {
	w.db.Kill()
	dwell(rng, 0, 2*time.Second)
	w.db.Restart(w.t)
	return nil
}

func readOnly(w *world, rng *rand.Rand) error {
	if err := w.exec("SET GLOBAL read_only = 1"); err != nil {
		return err
	}
	dwell(rng, time.Second, 3*time.Second)
	return w.exec("SET GLOBAL read_only = 0")
}

// exec runs an administrator's statement, again where another fault is in its way.
func (w *world) exec(statement string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if _, err = w.admin.ExecContext(ctx, statement); err == nil {
			return nil
		}
		sleep(ctx, 100*time.Millisecond)
	}
	return fmt.Errorf("%s: %w", statement, err)
}

func connectionsKilled(w *world, _ *rand.Rand) error { return w.exec("KILL USER node") }

func rowLocked(w *world, rng *rand.Rand) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	tag := w.tags[rng.IntN(len(w.tags))]
	tx, err := w.lockRow(ctx, tag)
	for err != nil && ctx.Err() == nil { // another fault is in its way
		sleep(ctx, 100*time.Millisecond)
		tx, err = w.lockRow(ctx, tag)
	}
	if err != nil {
		return fmt.Errorf("locking the row of %s: %w", tag, err)
	}
	dwell(rng, time.Second, 4*time.Second)
	_ = tx.Rollback() // it only read
	return nil
}

func (w *world) lockRow(ctx context.Context, tag string) (*sql.Tx, error) {
	tx, err := w.admin.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	var at int64
	if err := tx.QueryRowContext(ctx, "SELECT max_id FROM leaf_alloc WHERE biz_tag = ? FOR UPDATE", tag).Scan(&at); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

func network(m faultnet.Mode) func(*world, *rand.Rand) error {
	return func(w *world, rng *rand.Rand) error {
		p := w.proxies[rng.IntN(len(w.proxies))]
		p.Set(m)
		dwell(rng, 500*time.Millisecond, 3*time.Second)
		p.Set(faultnet.Pass)
		return nil
	}
}

func clockAhead(w *world, rng *rand.Rand) error { return stepped(w, rng, 1) }

func clockBack(w *world, rng *rand.Rand) error { return stepped(w, rng, -1) }

func stepped(w *world, rng *rand.Rand, sign int) error {
	n, giveBack := w.take(rng)
	defer giveBack()
	err := n.stepClock(time.Duration(sign*(60+rng.IntN(600))) * time.Second)
	dwell(rng, 500*time.Millisecond, 3*time.Second)
	return errors.Join(err, n.stepClock(0))
}

func wrongStart(w *world, rng *rand.Rand) error {
	n := w.newNode(w.url)
	off := 3 * time.Minute
	if rng.IntN(2) == 0 {
		off = -off
	}
	if err := n.stepClock(off); err != nil {
		return err
	}
	return refuses(n, "--max-skew")
}

func otherLayout(w *world, _ *rand.Rand) error {
	return refuses(w.newNode(w.url, "--bits", "41,5,7"), "--epoch/--bits")
}

// refuses checks that the node does not start, and names the flag.
func refuses(n *node, flag string) error {
	err := n.start()
	if err == nil {
		return fmt.Errorf("a node started that must refuse, naming %s\n%s", flag, n.logged())
	}
	if !contains(err, flag) {
		return fmt.Errorf("a refusal does not name %s: %w", flag, err)
	}
	return nil
}

func sqliteKilled(w *world, _ *rand.Rand) error {
	w.sqlite.kill()
	return w.sqlite.restart()
}

// diskFull fills the file system to the last byte.
func diskFull(w *world, rng *rand.Rand) error {
	if !w.small {
		return errNotRoot
	}
	filler := filepath.Join(w.disk, "filler")
	f, err := os.Create(filler)
	if err != nil {
		return err
	}
	for size := 1 << 16; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	dwell(rng, time.Second, 3*time.Second)
	return errors.Join(f.Close(), os.Remove(filler))
}

var errNotRoot = errors.New("only root can mount a small file system")
