package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	// bufferSize is how much is read at a time. It bounds the largest single string that a reply may hold.
	bufferSize = 256 << 10
	// writeAhead is how much may be written before replies are read. More is written by a goroutine of its own: a server that
	// waits until its replies are read reads no requests.
	writeAhead = 16 << 10
)

// A driver sends requests over one connection.
type driver interface {
	// exchange sends n requests, the first of them the load's request number first, and returns when all their replies have
	// been given to the worker.
	exchange(ctx context.Context, first int64, n int, w *worker) error
	// interrupt makes a running exchange fail.
	interrupt()
	close()
}

// A conn is this package's own client: a connection that speaks RESP2 and allocates nothing once it runs.
type conn struct {
	net  net.Conn
	reqs *requests
	scan scanner

	buf  []byte
	r, w int // buf[r:w] has been received and not yet scanned

	sending chan []byte // to the writing goroutine; nil when no batch needs it
	sent    chan error  // its outcomes
}

// dialConn connects to a target and logs in.
func dialConn(ctx context.Context, l Load, reqs *requests) (*conn, error) {
	nc, err := l.Target.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{net: nc, reqs: reqs, buf: make([]byte, bufferSize)}
	nc.SetDeadline(time.Now().Add(dialTimeout))
	if err := c.logIn(l.Target); err != nil {
		nc.Close()
		return nil, err
	}
	nc.SetDeadline(time.Time{})
	if len(reqs.bytes) > writeAhead {
		c.sending, c.sent = make(chan []byte), make(chan error, 1)
		go c.write()
	}
	return c, nil
}

// logIn sends AUTH and SELECT where the target's URL asks for them.
func (c *conn) logIn(t Target) error {
	var hello []byte
	n := int64(0)
	if t.Password != "" {
		args := []string{"AUTH", t.User, t.Password}
		if t.User == "" {
			args = []string{"AUTH", t.Password}
		}
		hello, n = appendRequest(hello, args), n+1
	}
	if t.Database != "" {
		hello, n = appendRequest(hello, []string{"SELECT", t.Database}), n+1
	}
	if n == 0 {
		return nil
	}
	if _, err := c.net.Write(hello); err != nil {
		return err
	}
	for c.scan.replies < n {
		if err := c.read(); err != nil {
			return err
		}
	}
	if c.scan.errors > 0 {
		return fmt.Errorf("logging in: %s", c.scan.failure)
	}
	c.scan = scanner{}
	return nil
}

// write sends what is put into c.sending.
func (c *conn) write() {
	for batch := range c.sending {
		_, err := c.net.Write(batch)
		c.sent <- err
	}
}

func (c *conn) exchange(_ context.Context, first int64, n int, w *worker) error {
	batch := c.reqs.batch(first, n)
	byOther := len(batch) > writeAhead
	if byOther {
		c.sending <- batch
	} else if _, err := c.net.Write(batch); err != nil {
		return err
	}
	err := c.receive(int64(n), w)
	if byOther {
		if err != nil {
			c.net.Close() // so that the writing ends
		}
		err = errors.Join(err, <-c.sent)
	}
	return err
}

// receive reads n replies.
func (c *conn) receive(n int64, w *worker) error {
	c.scan.sink = w.sink()
	for want := c.scan.replies + n; c.scan.replies < want; {
		before := c.scan
		if err := c.read(); err != nil {
			return err
		}
		w.arrived(c.scan.replies-before.replies, c.scan.values-before.values, c.scan.errors-before.errors)
		if c.scan.replies > want {
			return errors.New("more replies than requests")
		}
	}
	if c.scan.failure != "" {
		w.fail(c.scan.failure)
	}
	return nil
}

// read receives once and scans it.
func (c *conn) read() error {
	n, err := c.net.Read(c.buf[c.w:])
	if n == 0 && err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("the server closed the connection")
		}
		return err
	}
	c.w += n
	c.r += c.scan.scan(c.buf[c.r:c.w])
	if c.scan.broken {
		return fmt.Errorf("what came is not RESP: %.40q", c.buf[c.r:c.w])
	}
	c.w, c.r = copy(c.buf, c.buf[c.r:c.w]), 0
	if c.w == len(c.buf) {
		return fmt.Errorf("a reply has a string of more than %d bytes", len(c.buf))
	}
	return nil
}

func (c *conn) interrupt() { c.net.SetDeadline(time.Unix(1, 0)) }

func (c *conn) close() {
	c.net.Close()
	if c.sending != nil {
		close(c.sending)
	}
}
