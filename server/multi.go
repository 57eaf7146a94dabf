package server

import (
	"github.com/tidwall/redcon"
)

// maxQueued bounds the bytes of one transaction's requests.
const maxQueued = 32 << 20

// transaction is what MULTI opened. Requests are kept as they would be sent again.
type transaction struct {
	open    bool
	aborted bool // a request could not be queued
	queue   []byte
	queued  int
	held    int64 // taken from the budget
}

func (t *transaction) reset(b *budget) {
	b.give(t.held)
	*t = transaction{}
}

// queue keeps a request for EXEC.
func (c *client) queue(args [][]byte) {
	size := int64(16)
	for _, arg := range args {
		size += int64(len(arg)) + 16
	}
	if int64(len(c.tx.queue))+size > maxQueued || !c.s.memory.take(size) {
		c.tx.aborted = true
		c.fail("ERR transaction is too large")
		return
	}
	c.tx.held += size
	c.tx.queue = redcon.AppendArray(c.tx.queue, len(args))
	for _, arg := range args {
		c.tx.queue = redcon.AppendBulk(c.tx.queue, arg)
	}
	c.tx.queued++
	c.status("QUEUED")
}

// multi is MULTI.
func (c *client) multi([][]byte) error {
	if c.tx.open {
		return replyError("ERR MULTI calls can not be nested")
	}
	c.tx = transaction{open: true}
	c.status("OK")
	return nil
}

// discard is DISCARD.
func (c *client) discard([][]byte) error {
	if !c.tx.open {
		return replyError("ERR DISCARD without MULTI")
	}
	c.tx.reset(&c.s.memory)
	c.status("OK")
	return nil
}

// watch is WATCH key...: nothing here can be read and written back, so nothing is watched.
func (c *client) watch([][]byte) error {
	if c.tx.open {
		return replyError("ERR WATCH inside MULTI is not allowed")
	}
	c.status("OK")
	return nil
}

// unwatch is UNWATCH.
func (c *client) unwatch([][]byte) error {
	c.status("OK")
	return nil
}

// exec is EXEC: the replies of all queued requests. Other clients' draws may fall between them; no id is any less unique.
func (c *client) exec([][]byte) error {
	if !c.tx.open {
		return replyError("ERR EXEC without MULTI")
	}
	tx := c.tx
	c.tx = transaction{}
	defer tx.reset(&c.s.memory)
	if tx.aborted {
		return replyError("EXECABORT Transaction discarded because of previous errors.")
	}
	c.array(tx.queued)
	var args [][]byte
	for queue := tx.queue; len(queue) > 0; {
		_, next, _, rest, err := redcon.ReadNextCommand(queue, args)
		if err != nil { // it was written by queue
			panic(err)
		}
		args, queue = next, rest
		c.call(c.lookup(args[0]), args)
		if c.reply == replyOn && len(c.out) >= flushAt && c.flushNow() != nil {
			c.closing = true
			return nil
		}
	}
	return nil
}
