package bench

import (
	"math"
	"time"
)

// A pace says when requests are due. It decides only; who asks it also waits. (The idea is vegeta's.)
type pace struct {
	interval time.Duration // between two requests; 0: a request is due at any time
	offset   time.Duration // when the first is due
}

// paceOf shares a rate among connections, their requests falling between each other's.
func paceOf(rate float64, connections, connection int) pace {
	if rate <= 0 {
		return pace{}
	}
	interval := float64(connections) * float64(time.Second) / rate
	return pace{
		interval: max(1, time.Duration(math.Round(interval))),
		offset:   time.Duration(interval * float64(connection) / float64(connections)),
	}
}

// open says whether requests have their times.
func (p pace) open() bool { return p.interval > 0 }

// at is when a request is due, counted from the start; requests count from 0.
func (p pace) at(request int64) time.Duration {
	return p.offset + time.Duration(request)*p.interval
}

// next says what to do at a time when so many requests have been sent: send n (1 to most) of them, or wait.
func (p pace) next(elapsed time.Duration, sent int64, most int) (n int, wait time.Duration) {
	if !p.open() {
		return most, 0
	}
	if first := p.at(sent); elapsed < first {
		return 0, first - elapsed
	}
	due := int64((elapsed-p.offset)/p.interval) + 1 - sent
	return int(min(due, int64(most))), 0
}

// missed is how many requests were due before then and have not been sent.
func (p pace) missed(elapsed time.Duration, sent int64) int64 {
	if !p.open() || elapsed <= p.offset {
		return 0
	}
	return max(0, int64((elapsed-p.offset-1)/p.interval)+1-sent)
}
