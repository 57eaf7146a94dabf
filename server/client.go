package server

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/tidwall/redcon"
)

const (
	flushAt    = 64 << 10               // replies are written once there are so many bytes of them
	writeChunk = 256 << 10              // bytes that Config.WriteTimeout is for
	maxArgsBuf = 1024                   // a longer argument buffer is not kept
	drainQuiet = 20 * time.Millisecond  // at the end: no bytes for so long means that all was received
	drainLimit = time.Second            // at the end: longest time to go on reading
	lingerTime = 200 * time.Millisecond // how long a refused client may still send before the connection is cut
	lingerMax  = 4 << 20                // bytes it may send in that time
)

// client is one connection. One goroutine, serve, owns its fields.
type client struct {
	s       *Server
	conn    net.Conn
	id      int64
	local   bool // on the loopback interface
	created time.Time

	in     input
	framer framer
	args   [][]byte
	out    []byte
	held   int64 // taken from the budget for replies

	resp3    bool
	authed   bool
	closing  bool // the connection ends after the replies so far
	vain     bool // a call of this pipeline has waited in vain: the later ones don't wait
	tx       transaction
	word     [maxCommandName]byte // the command's name in lower case
	drainEnd time.Time            // when draining, no more is read after it

	commands        int64  // executed, not yet added to the server's
	db              int    // as selected; it makes no difference
	name            string // CLIENT SETNAME
	libName, libVer string // CLIENT SETINFO
	lastCommand     string // for CLIENT INFO
}

func newClient(s *Server, conn net.Conn, id int64) *client {
	c := &client{s: s, conn: conn, id: id, local: isLoopback(conn), created: time.Now()}
	c.in.budget = &s.memory
	c.framer.maxRequest = s.cfg.MaxRequest
	c.setAuthed(s.cfg.Password == "")
	return c
}

func (c *client) setAuthed(yes bool) {
	c.authed = yes
	c.framer.authed = yes
}

// serve answers requests until the client leaves, breaks the protocol, or the server drains.
func (c *client) serve() {
	defer c.end()
	for c.receive() {
		open := c.batch()
		if c.draining() && open {
			continue // replies are kept until all is received: a client that waits for them sends no more
		}
		if c.flush() != nil || !open {
			return
		}
	}
	_ = c.flush() // the connection ends in either case
}

// end closes the connection. A panic costs one connection, never the process.
func (c *client) end() {
	if p := recover(); p != nil {
		c.s.stats.panics.Add(1)
		c.s.cfg.Logger.Error("panic in a connection; it is closed", "panic", p, "client", c.conn.RemoteAddr(), "stack", string(debug.Stack()))
	}
	c.conn.Close()
	c.s.forget(c)
	c.in.release()
	c.s.memory.give(c.held)
	c.tx.reset(&c.s.memory)
	c.countCommands()
}

// batch serves every complete request received and reports whether the connection goes on.
func (c *client) batch() (open bool) {
	c.vain = false
	defer c.countCommands()
	for {
		size, skip, err := c.framer.scan(c.in.unread())
		if err != nil {
			c.breakOff(err)
			return false
		}
		if size == 0 {
			return true
		}
		request := c.in.unread()[:size]
		c.in.consume(size)
		if skip {
			continue
		}
		if err := c.split(request); err != nil {
			c.breakOff(err)
			return false
		}
		if len(c.args) > 0 {
			c.execute(c.args)
		}
		if c.closing {
			return false
		}
		if len(c.out) >= flushAt && c.flush() != nil {
			return false
		}
	}
}

// split cuts one whole request into c.args, which point into it.
func (c *client) split(request []byte) (err error) {
	if cap(c.args) > maxArgsBuf {
		c.args = nil
	}
	if request[0] != '*' {
		c.args, err = splitInline(request, c.args)
		return err
	}
	complete, args, _, rest, err := redcon.ReadNextCommand(request, c.args)
	if err != nil || !complete || len(rest) > 0 {
		return errMultibulkLength // the framer and redcon disagree
	}
	c.args = args
	return nil
}

// breakOff tells the client why the connection ends.
func (c *client) breakOff(err error) {
	c.s.cfg.Logger.Debug("protocol error", "err", err, "client", c.conn.RemoteAddr())
	if errors.Is(err, errTLS) {
		return
	}
	c.out = appendError(c.out, errorReply(err))
	if c.flush() == nil {
		linger(c.conn)
	}
}

// linger lets the peer read what was sent although it may still be sending itself: closing at once would have its system
// throw the replies away.
func linger(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		conn.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, conn, lingerMax) // ends as it may: the connection is closed next
	}
	conn.Close()
}

func (c *client) countCommands() {
	c.s.stats.commands.Add(c.commands)
	c.commands = 0
}

// receive reads more input and reports whether there is any.
func (c *client) receive() bool {
	room := c.in.room()
	if room == nil {
		c.out = appendError(c.out, "ERR out of memory for large requests; try again")
		return false
	}
	for {
		if !c.prepareRead() {
			return false
		}
		wasDraining := !c.drainEnd.IsZero()
		n, err := c.conn.Read(room)
		c.s.stats.bytesIn.Add(int64(n))
		c.in.received(n)
		if n > 0 {
			return true
		}
		if wasDraining || !errors.Is(err, os.ErrDeadlineExceeded) {
			return false
		}
	}
}

// prepareRead bounds the next read when the server drains, and reports whether there may be one.
func (c *client) prepareRead() bool {
	if !c.draining() {
		return true
	}
	now := time.Now()
	if c.drainEnd.IsZero() {
		c.drainEnd = now.Add(drainLimit)
	}
	c.conn.SetReadDeadline(now.Add(drainQuiet))
	return now.Before(c.drainEnd)
}

func (c *client) draining() bool { return c.s.draining.Load() }

// flush writes the replies so far.
func (c *client) flush() error {
	for out := c.out; len(out) > 0; {
		n := min(len(out), writeChunk)
		c.conn.SetWriteDeadline(time.Now().Add(c.s.cfg.WriteTimeout))
		if _, err := c.conn.Write(out[:n]); err != nil {
			return err
		}
		out = out[n:]
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

// reserve makes sure that a reply of about n bytes may be held.
func (c *client) reserve(n int64) error {
	if n <= flushAt {
		return nil
	}
	if !c.s.memory.take(n) {
		return replyError("TRYAGAIN too many large replies are being sent; ask for fewer ids at a time")
	}
	c.held += n
	return nil
}
