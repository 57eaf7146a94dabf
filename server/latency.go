package server

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	latencySamples = 160 // of each event, as in Redis
	latencyEvent   = "command"
)

// latency keeps, as Redis's latency monitor does, the commands that took longer than a threshold. Safe for concurrent
// use.
type latency struct {
	threshold atomic.Int64 // nanoseconds; 0: off, as in Redis

	mu     sync.Mutex // protects everything below
	events map[string]*latencyHistory
}

type latencyHistory struct {
	worst   int64           // milliseconds
	samples []latencySample // the latest last; one a second
}

type latencySample struct{ at, ms int64 }

func (l *latency) record(event string, took time.Duration) {
	threshold := l.threshold.Load()
	if threshold <= 0 || int64(took) < threshold {
		return
	}
	now, ms := time.Now().Unix(), took.Milliseconds()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.events == nil {
		l.events = map[string]*latencyHistory{}
	}
	h := l.events[event]
	if h == nil {
		h = &latencyHistory{}
		l.events[event] = h
	}
	h.worst = max(h.worst, ms)
	if last := len(h.samples) - 1; last >= 0 && h.samples[last].at == now {
		h.samples[last].ms = max(h.samples[last].ms, ms)
		return
	}
	h.samples = append(h.samples, latencySample{now, ms})
	if len(h.samples) > latencySamples {
		h.samples = append(h.samples[:0], h.samples[1:]...)
	}
}

// latencyCmd is LATENCY LATEST | HISTORY event | RESET [event...] | HISTOGRAM [command...] | DOCTOR.
func (c *client) latencyCmd(args [][]byte) error {
	l := &c.s.latency
	sub := strings.ToUpper(string(args[1]))
	switch {
	case sub == "LATEST" && len(args) == 2:
		c.latencyLatest()
	case sub == "HISTORY" && len(args) == 3:
		samples := l.history(string(args[2]))
		c.array(len(samples))
		for _, s := range samples {
			c.array(2)
			c.int(s.at)
			c.int(s.ms)
		}
	case sub == "RESET":
		c.int(l.reset(args[2:]))
	case sub == "HISTOGRAM":
		c.latencyHistogram(args[2:])
	case sub == "DOCTOR" && len(args) == 2:
		c.text("SLOWLOG GET shows what was slow; INFO redleaf shows how the store is doing.")
	case sub == "HELP" && len(args) == 2:
		c.help("LATENCY", "DOCTOR", "HISTOGRAM [<command> ...]", "HISTORY <event>", "LATEST", "RESET [<event> ...]")
	case sub == "LATEST", sub == "HISTORY", sub == "DOCTOR", sub == "HELP":
		return wrongArity("latency|" + strings.ToLower(sub))
	default:
		return unknownSubcommand("LATENCY", args[1])
	}
	return nil
}

func (c *client) latencyLatest() {
	l := &c.s.latency
	l.mu.Lock()
	defer l.mu.Unlock()
	c.array(len(l.events))
	for _, name := range slices.Sorted(maps.Keys(l.events)) {
		h := l.events[name]
		last := h.samples[len(h.samples)-1]
		c.array(4)
		c.bulk(name)
		c.int(last.at)
		c.int(last.ms)
		c.int(h.worst)
	}
}

func (l *latency) history(event string) []latencySample {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.events[event]; h != nil {
		return slices.Clone(h.samples)
	}
	return nil
}

// reset forgets the events named, or all, and returns how many.
func (l *latency) reset(names [][]byte) (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(names) == 0 {
		n = int64(len(l.events))
		clear(l.events)
	}
	for _, name := range names {
		if l.events[string(name)] != nil {
			delete(l.events, string(name))
			n++
		}
	}
	return n
}

// latencyHistogram replies, for commands that were called, how many calls took at most 1, 2, 4 ... microseconds.
func (c *client) latencyHistogram(names [][]byte) {
	var chosen []*command
	for _, name := range names {
		if cmd := c.s.commands[strings.ToLower(string(name))]; cmd != nil {
			chosen = append(chosen, cmd)
		}
	}
	if len(names) == 0 {
		chosen = slices.SortedFunc(maps.Values(c.s.commands), func(a, b *command) int { return cmp.Compare(a.name, b.name) })
	}
	chosen = slices.DeleteFunc(chosen, func(cmd *command) bool { return c.s.stats.byCommand[cmd.index].calls.Load() == 0 })
	c.mapOf(len(chosen))
	for _, cmd := range chosen {
		s := &c.s.stats.byCommand[cmd.index]
		c.bulk(cmd.name)
		c.mapOf(2)
		c.bulk("calls")
		c.int(s.calls.Load())
		c.bulk("histogram_usec")
		c.cumulative(s)
	}
}

// cumulative replies with a histogram's non-empty buckets.
func (c *client) cumulative(s *commandStats) {
	var bounds, sums []int64
	sum := int64(0)
	for i := range s.latency {
		if n := s.latency[i].Load(); n > 0 {
			sum += n
			bounds, sums = append(bounds, 1<<i), append(sums, sum)
		}
	}
	c.mapOf(len(bounds))
	for i := range bounds {
		c.int(bounds[i])
		c.int(sums[i])
	}
}
