package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/redcon"
)

const (
	flushAt          = 64 << 10               // replies are written once there are so many bytes of them
	writeChunk       = 256 << 10              // bytes that Config.WriteTimeout is for
	maxArgsBuf       = 1024                   // a longer argument buffer is not kept
	handshakeTimeout = 10 * time.Second       // of TLS
	drainQuiet       = 20 * time.Millisecond  // at the end: no bytes for so long means that all was received
	drainLimit       = time.Second            // at the end: longest time to go on reading
	lingerTime       = 200 * time.Millisecond // how long a refused client may still send before the connection is cut
	lingerMax        = 4 << 20                // bytes it may send in that time
)

// client is one connection. One goroutine, serve, owns its fields, but for those of others named.
type client struct {
	s       *Server
	conn    net.Conn
	id      int64
	addr    string
	local   bool // on this machine
	created time.Time

	in     input
	framer framer
	memo   *memo // nil: nothing is remembered
	args   [][]byte
	out    []byte
	held   int64 // taken from the budget for replies

	user     *user // nil: AUTH is needed
	free     bool  // nothing limits what the connection may do: see limit
	resp3    bool
	closing  bool // the connection ends after the replies so far
	vain     bool // a call of this pipeline has waited in vain: the later ones don't wait
	optIn    bool // CLIENT TRACKING ON OPTIN
	caching  bool // CLIENT CACHING YES was refused: the next draw is as well
	reply    replyMode
	tx       transaction
	subs     subscriptions
	view     mapView
	word     [maxCommandName]byte // the command's name in lower case
	deadline bool                 // of idle connections, set on conn
	now      time.Time            // when the last pipeline, or the last part of it, was served
	writeBy  time.Time            // the deadline of writes that is set on conn
	drainEnd time.Time            // when draining, no more is read after it

	tally     tally         // commands of this pipeline that were not timed one by one
	slowSince time.Time     // when the command began, if it is timed
	timedSum  time.Duration // of this pipeline's timed commands
	last      *command
	lastSub   string // "|list", when last has subcommands
	request   int    // bytes of the request being served

	db              int    // as selected; it makes no difference
	name            string // CLIENT SETNAME
	libName, libVer string // CLIENT SETINFO

	resting atomic.Bool // the connection is idle and holds no buffers

	shownLast *command  // last, as shown
	shownAt   time.Time // when shown was brought up to date

	posted atomic.Bool // there are posts

	mu    sync.Mutex // protects what other connections read and write
	shown shown
	posts []post
}

func newClient(s *Server, conn net.Conn, id int64) *client {
	c := &client{s: s, conn: conn, id: id, addr: conn.RemoteAddr().String(), local: isLocal(conn), created: time.Now()}
	c.in.budget = &s.memory
	c.framer.maxRequest = s.cfg.MaxRequest
	c.view.seen = s.watch.known.Load()
	c.setUser(s.firstUser())
	c.publishState(c.created)
	return c
}

// setUser makes the connection a user's, or nobody's.
func (c *client) setUser(u *user) {
	c.user = u
	c.framer.authed = u != nil
	c.limit()
}

// serve answers requests until the client leaves, breaks the protocol, or the server drains.
func (c *client) serve() {
	defer c.end()
	if !c.handshake() {
		return
	}
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

// handshake completes TLS, where it is spoken, under a deadline.
func (c *client) handshake() bool {
	conn, ok := c.conn.(*tls.Conn)
	if !ok {
		return true
	}
	ctx, cancel := context.WithTimeout(c.s.life, handshakeTimeout)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		c.s.cfg.Logger.Debug("TLS handshake failed", "client", c.addr, "err", err)
		return false
	}
	return true
}

// end closes the connection. A panic costs one connection, never the process.
func (c *client) end() {
	if p := recover(); p != nil {
		c.s.stats.panics.Add(1)
		c.s.cfg.Logger.Error("panic in a connection; it is closed", "panic", p, "client", c.addr, "stack", string(debug.Stack()))
	}
	c.conn.Close()
	c.s.forget(c)
	c.in.release()
	c.s.memory.give(c.held)
	c.tx.reset(&c.s.memory)
}

// batch serves every complete request received and reports whether the connection goes on.
func (c *client) batch() (open bool) {
	c.timedSum = 0
	c.beginPipeline()
	begun := time.Now()
	open = c.serveReceived()
	c.now = time.Now()
	c.request = 0
	c.tally.flush(&c.s.stats, max(0, c.now.Sub(begun)-c.timedSum))
	if c.changed() {
		c.publishState(c.now)
	}
	return open
}

func (c *client) serveReceived() (open bool) {
	for {
		received := c.in.unread()
		cmd, args, size, err := c.next(received)
		if err != nil {
			c.breakOff(err)
			return false
		}
		if size == 0 {
			return true
		}
		k := 1
		if received[0] == '*' {
			k = equalRun(received, size)
		}
		c.in.consume(k * size)
		c.request = size
		if len(args) > 0 {
			c.executeRun(cmd, args, k)
		}
		if c.closing {
			return false
		}
		if len(c.out) >= flushAt && c.flushNow() != nil {
			return false
		}
	}
}

// next finds the first request in what was received: its command, if there is one of the name, its arguments (none when
// it is to be skipped) and its size; 0: it is not complete.
func (c *client) next(received []byte) (cmd *command, args [][]byte, size int, err error) {
	if c.memo == nil {
		c.memo = new(memo)
	}
	if !c.framer.begun() {
		if r := c.memo.expected(received); r != nil {
			return r.cmd, r.args, len(r.raw), nil
		}
	}
	size, skip, err := c.framer.scan(received)
	if err != nil || size == 0 || skip {
		return nil, nil, size, err
	}
	if err := c.split(received[:size]); err != nil {
		return nil, nil, 0, err
	}
	if len(c.args) > 0 {
		cmd = c.lookup(c.args[0])
	}
	if cmd != nil && cmd.many != nil && received[0] == '*' {
		c.memo.learn(received[:size], cmd)
	}
	return cmd, c.args, size, nil
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
	c.s.cfg.Logger.Debug("protocol error", "err", err, "client", c.addr)
	if errors.Is(err, errTLS) {
		return
	}
	c.fail(errorReply(err))
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
