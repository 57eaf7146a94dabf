package server

import "time"

// flushNow is flush in the middle of a pipeline, which may have taken its time.
func (c *client) flushNow() error {
	c.now = time.Now()
	return c.flush()
}

// flush writes the replies so far. c.now is not long ago.
func (c *client) flush() error {
	for out := c.out; len(out) > 0; {
		n := min(len(out), writeChunk)
		c.boundWrite()
		if _, err := c.conn.Write(out[:n]); err != nil {
			return err
		}
		if out = out[n:]; len(out) > 0 {
			c.now = time.Now()
		}
	}
	c.s.stats.bytesOut.Add(int64(len(c.out)))
	c.out = c.out[:0]
	if cap(c.out) > 2*flushAt {
		c.out = nil
	}
	c.s.memory.give(c.held)
	c.held = 0
	return nil
}

// boundWrite sees to it that a write ends within the timeout, or half of it more: setting the deadline for each would cost
// as much as a short write's own work.
func (c *client) boundWrite() {
	timeout := c.s.cfg.WriteTimeout
	if c.writeBy.Sub(c.now) < timeout {
		c.writeBy = c.now.Add(timeout + timeout/2)
		c.conn.SetWriteDeadline(c.writeBy)
	}
}

// reserve makes sure that a reply of about n bytes may be held.
func (c *client) reserve(n int64) error {
	switch {
	case n <= flushAt:
		return nil
	case n > c.s.cfg.MaxOutput:
		return replyError("ERR the reply would exceed --max-output: ask for fewer at a time")
	case !c.s.memory.take(n):
		return replyError("TRYAGAIN too many large replies are being sent; ask for fewer ids at a time")
	}
	c.held += n
	return nil
}
