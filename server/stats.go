package server

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// stats are sums since the start, or since CONFIG RESETSTAT.
type stats struct {
	connections, rejected, commands, bytesIn, bytesOut, panics atomic.Int64
	byCommand                                                  []commandStats // by command.index
	errors                                                     errorStats
	depth                                                      depths
	rate                                                       rate
}

// latencyBuckets is how many powers of two of microseconds a histogram tells apart, as in Redis.
const latencyBuckets = 31

// commandStats counts one command. Safe for concurrent use.
type commandStats struct {
	calls, nanos, rejected, failed atomic.Int64
	latency                        [latencyBuckets]atomic.Int64 // calls that took at most 2^i microseconds
}

// add counts calls that took each the given time.
func (s *commandStats) add(calls int64, each time.Duration) {
	s.calls.Add(calls)
	s.nanos.Add(calls * int64(each))
	s.latency[latencyBucket(each)].Add(calls)
}

func latencyBucket(d time.Duration) int {
	us := max(1, (int64(d)+999)/1000)
	return min(latencyBuckets-1, bits.Len64(uint64(us-1)))
}

func (s *commandStats) reset() {
	for _, n := range []*atomic.Int64{&s.calls, &s.nanos, &s.rejected, &s.failed} {
		n.Store(0)
	}
	for i := range s.latency {
		s.latency[i].Store(0)
	}
}

// errorStats counts error replies by their first word. Safe for concurrent use.
type errorStats struct {
	mu     sync.Mutex // protects counts
	counts map[string]int64
}

func (e *errorStats) add(reply string) {
	word, _, _ := strings.Cut(reply, " ")
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.counts == nil {
		e.counts = map[string]int64{}
	}
	e.counts[word]++
}

func (e *errorStats) lines() (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for word, n := range e.counts {
		all = append(all, fmt.Sprintf("errorstat_%s:count=%d\r\n", word, n))
	}
	slices.Sort(all)
	return all
}

func (e *errorStats) total() (n int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, k := range e.counts {
		n += k
	}
	return n
}

func (e *errorStats) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.counts)
}

// rate is commands a second, over the last whole second. Safe for concurrent use.
type rate struct {
	perSecond atomic.Int64
}

// sample does what is to be done once a second, the rate first of all, until the server's life ends.
func (s *Server) sample() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	last := s.stats.commands.Load()
	for {
		select {
		case at := <-ticker.C:
			s.restIdle(at)
			now := s.stats.commands.Load()
			s.stats.rate.perSecond.Store(max(0, now-last)) // RESETSTAT sets it back
			last = now
		case <-s.life.Done():
			return
		}
	}
}

// reset is CONFIG RESETSTAT.
func (s *stats) reset() {
	for _, n := range []*atomic.Int64{&s.connections, &s.rejected, &s.commands, &s.bytesIn, &s.bytesOut} {
		n.Store(0)
	}
	for i := range s.byCommand {
		s.byCommand[i].reset()
	}
	s.errors.reset()
	s.depth.reset()
}

// tally counts the commands of one batch of a connection: few different ones, so that a list is smaller and as fast as an
// array of all.
type tally struct {
	commands []tallied
	total    int64
}

type tallied struct {
	index int // command.index
	calls int64
}

func (t *tally) add(index int, n int64) {
	t.total += n
	for i := range t.commands {
		if t.commands[i].index == index {
			t.commands[i].calls += n
			return
		}
	}
	t.commands = append(t.commands, tallied{index, n})
}

// flush adds the batch, which took the given time, to the server's sums. Commands that were timed one by one are not in
// it.
func (t *tally) flush(s *stats, took time.Duration) {
	if t.total == 0 {
		return
	}
	each := took / time.Duration(t.total)
	for _, c := range t.commands {
		s.byCommand[c.index].add(c.calls, each)
	}
	s.commands.Add(t.total)
	s.depth.add(t.total)
	t.commands, t.total = t.commands[:0], 0
}
