package server

import (
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// restAfter is how long a connection must be idle before it gives its buffers back.
	restAfter = 2 * time.Second
	// restMany is how many connections must have done so since, before memory goes back to the system: about 4 MB.
	restMany = 1000
	// returnEvery is how often it goes back, at most: a garbage collection is no work for every second.
	returnEvery = time.Minute
)

// rested tells when enough connections have gone to rest that a garbage collection is worth it. Without one their buffers
// stay for minutes: a server at rest allocates nothing, and so does not collect.
type rested struct {
	count atomic.Int64 // connections that went to rest, ever

	// The rest is the sampling goroutine's.
	before, collected int64 // count, a second ago and at the last collection
	at                time.Time
}

// due reports whether to collect, and takes it as done. While more connections go to rest every second, it waits for them.
func (r *rested) due(now time.Time) bool {
	count := r.count.Load()
	settled := count == r.before
	r.before = count
	if !settled || count-r.collected < restMany || now.Sub(r.at) < returnEvery {
		return false
	}
	r.collected, r.at = count, now
	return true
}

// restIdle wakes connections that are idle and still hold buffers, so that they give them back. It is called once a
// second, and gives the memory back to the system once many have.
func (s *Server) restIdle(now time.Time) {
	if s.rested.due(now) {
		debug.FreeOSMemory()
	}
	for _, c := range s.all() {
		c.mu.Lock()
		idle := now.Sub(c.shown.active) > restAfter
		c.mu.Unlock()
		if idle && !c.resting.Load() && !s.draining.Load() {
			c.conn.SetReadDeadline(time.Now()) // wakes it
		}
	}
}

// rest gives the connection's buffers back and waits, without any, until there is something to read.
func (c *client) rest() {
	c.resting.Store(true) // until something is read
	c.s.rested.count.Add(1)
	if len(c.in.unread()) == 0 {
		c.in.release()
	}
	c.out, c.args, c.memo, c.tally.commands = nil, nil, nil, nil
	c.conn.SetReadDeadline(time.Time{})
	c.deadline = false
	if c.setIdleDeadline(); c.draining() || c.posted.Load() { // Shutdown's deadline may just have been taken back
		return
	}
	c.awaitInput()
}

// awaitInput returns when there is something to read, the deadline has passed, or the connection is closed; what of it, the next
// read tells. Connections over TLS do not wait here: what can be read of them is not what their socket has.
func (c *client) awaitInput() {
	conn, ok := c.conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	// The error is that of the next read as well.
	_ = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		return err != syscall.EAGAIN && err != syscall.EINTR
	})
}
