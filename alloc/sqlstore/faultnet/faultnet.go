// Package faultnet is a TCP proxy that does to connections what networks do, for tests.
package faultnet

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Mode is what the proxy does to the bytes that pass it.
type Mode int32

const (
	Pass      Mode = iota // passes them on
	Delay                 // passes each chunk on after up to 300 ms
	Blackhole             // takes them and passes nothing on, and new connections hang
	Trickle               // passes on a few bytes at a time
	CutReply              // passes requests on, and cuts the connection in place of a reply
	CutBefore             // cuts the connection at the next request, before it is passed on
	Refuse                // resets connections and takes no new ones
)

// Modes are the names of the modes, by mode.
func (m Mode) String() string {
	return [...]string{"pass", "delay", "blackhole", "trickle", "cut before reply", "cut before request", "reset"}[m]
}

// Proxy is a running proxy. Its methods are safe for concurrent use.
type Proxy struct {
	listener net.Listener
	mode     atomic.Int32
	lag      atomic.Int64 // nanoseconds

	mu     sync.Mutex // protects everything below
	target string
	conns  map[*link]struct{}
	closed bool
	work   sync.WaitGroup
}

// Start starts a proxy on a free port of 127.0.0.1 to the target, host:port.
func Start(target string) (*Proxy, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, conns: map[*link]struct{}{}}
	p.work.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set changes what happens from now on, to connections that are open too.
func (p *Proxy) Set(m Mode) {
	p.mode.Store(int32(m))
	if m == Refuse {
		p.Reset()
	}
}

// Lag has replies pass only after d, from now on: the target is further away.
func (p *Proxy) Lag(d time.Duration) { p.lag.Store(int64(d)) }

// Switch has new connections lead to another target; those that are open live on.
func (p *Proxy) Switch(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Reset breaks all connections.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.conns {
		l.cut()
	}
}

// Close ends the proxy and all its connections, and waits.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.listener.Close()
	p.Reset()
	p.work.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.serve(client) })
	}
}

// link is one connection through the proxy.
type link struct {
	client, server net.Conn
	done           chan struct{}
	once           sync.Once
}

// cut resets both sides.
func (l *link) cut() {
	l.once.Do(func() {
		close(l.done)
		for _, c := range []net.Conn{l.client, l.server} {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // fails only on a connection that has ended
			}
			if c != nil {
				c.Close()
			}
		}
	})
}

func (p *Proxy) serve(client net.Conn) {
	l := &link{client: client, done: make(chan struct{})}
	defer l.cut()
	if Mode(p.mode.Load()) == Refuse {
		return
	}
	if !p.dial(l) {
		return
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, l)
	}()
	var ways sync.WaitGroup
	ways.Go(func() { p.pump(l, l.client, l.server, true) })
	ways.Go(func() { p.pump(l, l.server, l.client, false) })
	ways.Wait()
}

func (p *Proxy) dial(l *link) bool {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	server, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", target)
	if err != nil {
		return false
	}
	l.server = server
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.target != target {
		return false
	}
	p.conns[l] = struct{}{}
	return true
}

// pump passes one direction on until either side ends.
func (p *Proxy) pump(l *link, from, to net.Conn, requests bool) {
	defer l.cut()
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if n > 0 && !p.pass(l, to, buf[:n], requests) {
			return
		}
		if err != nil {
			return
		}
	}
}

// pass does to a chunk what the mode says, and reports whether the connection lives on.
func (p *Proxy) pass(l *link, to net.Conn, chunk []byte, request bool) bool {
	switch Mode(p.mode.Load()) {
	case Delay:
		if !l.sleep(rand.N(300 * time.Millisecond)) {
			return false
		}
	case Blackhole:
		return l.sleepWhile(func() bool { return Mode(p.mode.Load()) == Blackhole }) && p.pass(l, to, chunk, request)
	case Trickle:
		return p.trickle(l, to, chunk)
	case CutReply:
		if !request {
			return false
		}
	case CutBefore:
		if request {
			return false
		}
	case Refuse:
		return false
	case Pass:
	}
	if lag := time.Duration(p.lag.Load()); !request && lag > 0 && !l.sleep(lag) {
		return false
	}
	_, err := to.Write(chunk)
	return err == nil
}

func (p *Proxy) trickle(l *link, to net.Conn, chunk []byte) bool {
	for len(chunk) > 0 {
		n := min(len(chunk), 1+rand.IntN(7))
		if _, err := to.Write(chunk[:n]); err != nil || !l.sleep(time.Millisecond) {
			return false
		}
		chunk = chunk[n:]
	}
	return true
}

// sleep waits, and reports whether the connection still lives.
func (l *link) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-l.done:
		return false
	}
}

func (l *link) sleepWhile(holds func() bool) bool {
	for holds() {
		if !l.sleep(20 * time.Millisecond) {
			return false
		}
	}
	return true
}
