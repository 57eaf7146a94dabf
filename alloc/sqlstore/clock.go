package sqlstore

import (
	"sync/atomic"
	"time"
)

// clock is this machine's, made to never step back while the process lives. It is safe for concurrent use.
type clock struct {
	start time.Time // with its monotonic reading
	last  *atomic.Int64
}

func newClock() clock { return clock{start: time.Now(), last: new(atomic.Int64)} }

// now returns Unix milliseconds: the wall clock, or, where that was set back, the latest time known carried on.
func (c *clock) now() int64 {
	now := time.Now()
	ms := max(now.UnixMilli(), c.start.UnixMilli()+now.Sub(c.start).Milliseconds())
	for {
		last := c.last.Load()
		if ms <= last {
			return last
		}
		if c.last.CompareAndSwap(last, ms) {
			return ms
		}
	}
}
