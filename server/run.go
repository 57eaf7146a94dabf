package server

import "bytes"

// Runs: a pipeline of equal requests is the main load, so k equal requests in a row are found by one comparison, drawn at
// once, and answered by one loop. The replies are, byte for byte, those of k separate requests.

// equalRun returns how many times in a row, at least once, buf begins with its first size bytes.
func equalRun(buf []byte, size int) int {
	if len(buf) < 2*size || !bytes.Equal(buf[:size], buf[size:2*size]) {
		return 1
	}
	// A prefix that equals what follows it size bytes on is periodic. The longest such prefix is found by halving.
	lo, hi := 2, len(buf)/size // requests known to be equal, and the most there can be
	if periodic(buf, size, hi) {
		return hi
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; periodic(buf[lo*size-size:], size, mid-lo+1) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func periodic(buf []byte, size, n int) bool {
	return bytes.Equal(buf[:(n-1)*size], buf[size:n*size])
}

// runner answers up to k requests equal to args with what is at hand, without waiting, and returns how many; 0 when the
// next one has to be executed by itself.
type runner func(c *client, args [][]byte, k int) int

// executeRun answers k equal requests in a row.
func (c *client) executeRun(cmd *command, args [][]byte, k int) {
	if k == 1 && !c.running(cmd, args) {
		c.execute(args)
		return
	}
	for k > 0 && !c.closing {
		n := 0
		if c.running(cmd, args) {
			n = cmd.many(c, args, k)
		}
		if n == 0 {
			c.execute(args) // waits, or says why not
			n = 1
		} else {
			c.last, c.lastSub = cmd, ""
			c.tally.add(cmd.index, int64(n))
		}
		k -= n
		if k > 0 && len(c.out) >= flushAt && c.flushNow() != nil {
			c.closing = true
		}
	}
}

// running reports whether nothing but the command itself decides about the request.
func (c *client) running(cmd *command, args [][]byte) bool {
	return cmd != nil && cmd.many != nil && c.free && !c.tx.open && c.reply == replyOn && cmd.fits(len(args)) && c.view.current() && !c.s.timesAll()
}

// manyIncr is INCR in a row.
func manyIncr(c *client, args [][]byte, k int) int {
	first, n := c.takeInts(args[1], int64(k))
	c.out = appendIntRun(c.out, first, n)
	return int(n)
}

// manyIncrBy is INCRBY key 1 in a row: redis-py's incr.
func manyIncrBy(c *client, args [][]byte, k int) int {
	if len(args[2]) != 1 || args[2][0] != '1' {
		return 0
	}
	return manyIncr(c, args, k)
}

// takeInts takes ids that INCR may answer with.
func (c *client) takeInts(key []byte, k int64) (first, n int64) {
	kind, tag := c.parseKey(key)
	switch {
	case kind == segmentKey && c.s.cfg.Segments != nil:
		return c.s.cfg.Segments.Take(tag, k)
	case kind == snowflakeKey && c.s.cfg.Snowflakes != nil && c.s.cfg.Snowflakes.Layout().JavaScriptSafe() && checkLabel(tag) == nil:
		return c.s.cfg.Snowflakes.Take(k)
	}
	return 0, 0
}

// manyGet is GET of a snowflake key in a row.
func manyGet(c *client, args [][]byte, k int) int {
	kind, tag := c.parseKey(args[1])
	if kind != snowflakeKey || c.s.cfg.Snowflakes == nil || checkLabel(tag) != nil {
		return 0
	}
	first, n := c.s.cfg.Snowflakes.Take(int64(k))
	c.out = appendBulkIntRun(c.out, first, n)
	return int(n)
}

// manyPop is LPOP or RPOP of single ids in a row.
func manyPop(c *client, args [][]byte, k int) int {
	if len(args) != 2 {
		return 0
	}
	var first, n int64
	switch kind, tag := c.parseKey(args[1]); {
	case kind == segmentKey && c.s.cfg.Segments != nil:
		first, n = c.s.cfg.Segments.Take(tag, int64(k))
	case kind == snowflakeKey && c.s.cfg.Snowflakes != nil && checkLabel(tag) == nil:
		first, n = c.s.cfg.Snowflakes.Take(int64(k))
	}
	c.out = appendBulkIntRun(c.out, first, n)
	return int(n)
}

// manyPing is PING without a message in a row.
func manyPing(c *client, args [][]byte, k int) int {
	if len(args) != 1 || c.subs.count() > 0 {
		return 0
	}
	for range k {
		c.out = append(c.out, "+PONG\r\n"...)
	}
	return k
}
