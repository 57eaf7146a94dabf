package torture

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// settings are those of a run.
type settings struct {
	seed  uint64
	last  time.Duration
	doc   string
	claim bool
}

// flags reads the settings; without any the run is short and its order changes from day to day.
func flags() (s settings) {
	today := uint64(time.Now().Unix() / 86400)
	for _, f := range []struct{ name, value string }{{"seed", fmt.Sprint(today)}, {"for", "18s"}, {"doc", ""}} {
		if flag.Lookup("torture."+f.name) == nil {
			panic("TestMain did not define -torture." + f.name)
		}
	}
	get := func(name string) any { return flag.Lookup("torture." + name).Value.(flag.Getter).Get() }
	s.seed, s.last, s.doc = get("seed").(uint64), get("for").(time.Duration), get("doc").(string)
	if s.seed == 0 {
		s.seed = today
	}
	s.claim = s.doc != ""
	return s
}

func TestMain(m *testing.M) {
	flag.Uint64("torture.seed", 0, "order and parameters of the faults; 0: today's")
	flag.Duration("torture.for", 18*time.Second, "how long faults are injected")
	flag.String("torture.doc", "", "file for the report; the run then begins with what takes long")
	flag.Bool("torture.mutants", false, "show that known bugs make the bench fail")
	flag.Parse()
	m.Run()
}

// Nothing that happens to processes, clocks, networks and databases repeats an id or leaves a client without an answer.
func TestTorture(t *testing.T) {
	s := flags()
	w := newWorld(t, build(t, root), s.seed)
	if s.claim {
		w.tryAll([]fault{manyClaims})
	}
	w.play(s.last)
	t.Logf("seed %d\n%s", s.seed, w.report.table())
	for _, f := range w.report.failures() {
		t.Error(f)
	}
	if s.doc != "" {
		if err := w.report.write(s.doc, w.skipped()); err != nil {
			t.Error(err)
		}
	}
}

func (w *world) skipped() int64 {
	return w.books.skipped(func(kind string) bool { return !strings.HasSuffix(kind, snowflakes) })
}

// play injects faults until the time is over: each kind once in a random order, then again.
func (w *world) play(last time.Duration) {
	end := time.Now().Add(last)
	for time.Now().Before(end) && len(w.report.failures()) == 0 {
		round := faults()
		w.rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		var due []fault
		for i, f := range round {
			due = append(due, f)
			if i%3 == 2 {
				due = append(due, pairOf(round[i-1], round[i]))
			}
		}
		for _, f := range due {
			if time.Now().After(end) || len(w.report.failures()) > 0 {
				return
			}
			w.tryAll([]fault{f})
		}
	}
}

// tryAll injects faults one after the other, and looks at the ids after each.
func (w *world) tryAll(all []fault) {
	for _, f := range all {
		if f.inject == nil {
			continue
		}
		r := w.report.row(f)
		r.times++
		w.now = r
		err := f.inject(w, rand.New(rand.NewPCG(w.rng.Uint64(), 3)))
		if errors.Is(err, errNotRoot) {
			r.times--
			r.expected = "not injected: " + err.Error()
		} else if err != nil {
			w.report.complain(f.name, err.Error())
		}
		w.harvest(r)
		back, err := w.awaitAll(r)
		if err != nil {
			w.report.complain(f.name, err.Error())
		}
		r.back = max(r.back, back)
		time.Sleep(100 * time.Millisecond)
		w.harvest(r)
	}
}

// pair is the name of two faults at once.
const pair = "two at once"

// pairOf injects two faults at the same time. The second is one that may be combined.
func pairOf(a, b fault) fault {
	if b.alone {
		a, b = b, a
	}
	if b.alone || strings.HasPrefix(a.name, "SQLite") || strings.HasPrefix(b.name, "SQLite") {
		return fault{}
	}
	return fault{pair, "as each of them", a.limit + b.limit, true, func(w *world, rng *rand.Rand) error {
		other := make(chan error, 1)
		second := rand.New(rand.NewPCG(rng.Uint64(), 4))
		go func() { other <- b.inject(w, second) }()
		return errors.Join(a.inject(w, rng), <-other)
	}}
}

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }
