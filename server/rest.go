package server

import (
	"syscall"
	"time"
)

// restAfter is how long a connection must be idle before it gives its buffers back.
const restAfter = 2 * time.Second

// restIdle wakes connections that are idle and still hold buffers, so that they give them back. It is called once a
// second.
func (s *Server) restIdle(now time.Time) {
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
	if len(c.in.unread()) == 0 {
		c.in.release()
	}
	c.out, c.args, c.memo = nil, nil, nil
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
