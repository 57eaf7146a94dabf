package server

import (
	"errors"
	"os"
	"time"
)

// receive reads more input and reports whether there is any.
func (c *client) receive() bool {
	room := c.in.room()
	if room == nil {
		c.fail("ERR out of memory for large requests; try again")
		return false
	}
	since := time.Now()
	for {
		if !c.prepareRead() {
			return false
		}
		if !c.deliver() {
			return false
		}
		wasDraining := !c.drainEnd.IsZero()
		n, err := c.conn.Read(room)
		c.s.stats.bytesIn.Add(int64(n))
		c.vain = c.vain && c.in.filled // a read that filled the buffer was not the end of its pipeline
		c.in.received(n)
		if n > 0 {
			if c.resting.Load() {
				c.resting.Store(false)
			}
			return true
		}
		if wasDraining || !errors.Is(err, os.ErrDeadlineExceeded) || !c.draining() && c.idleTooLong(since) {
			return false
		}
		if c.draining() {
			continue
		}
		c.rest()
		if room = c.in.room(); room == nil {
			return false
		}
	}
}

// prepareRead bounds the next read when the server drains or idle connections are closed, and reports whether there may
// be one.
func (c *client) prepareRead() bool {
	if !c.draining() {
		if c.setIdleDeadline() && c.draining() { // Shutdown may have set its own deadline just before
			return c.prepareRead()
		}
		return true
	}
	now := time.Now()
	if c.drainEnd.IsZero() {
		c.drainEnd = now.Add(drainLimit)
	}
	c.conn.SetReadDeadline(now.Add(drainQuiet))
	return now.Before(c.drainEnd)
}

// idleTooLong reports whether the connection has been idle for too long; the setting may have changed meanwhile.
func (c *client) idleTooLong(since time.Time) bool {
	idle := time.Duration(c.s.idle.Load())
	return idle > 0 && c.subs.count() == 0 && time.Since(since) >= idle
}

// setIdleDeadline sets or clears the deadline of idle connections, and reports whether it did either. Those that listen to
// channels have nothing to send.
func (c *client) setIdleDeadline() bool {
	idle := time.Duration(c.s.idle.Load())
	switch {
	case idle > 0 && c.subs.count() == 0:
		c.conn.SetReadDeadline(time.Now().Add(idle))
		c.deadline = true
	case c.deadline:
		c.conn.SetReadDeadline(time.Time{})
		c.deadline = false
	default:
		return false
	}
	return true
}

func (c *client) draining() bool { return c.s.draining.Load() }
