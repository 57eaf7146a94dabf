package sqlstore

import (
	"net"
	"sync/atomic"
	"testing"
)

// comExecute is the protocol's command that executes a prepared statement.
const comExecute = 0x17

// proxy passes connections on to a server. Armed, it forwards a statement's execution, waits for the reply, and cuts
// the connection instead of passing the reply on.
type proxy struct {
	listener net.Listener
	server   string
	armed    atomic.Bool
	cuts     atomic.Int64
}

func startProxy(t *testing.T, server string) *proxy {
	p := &proxy{listener: listen(t), server: server}
	go func() {
		for {
			client, err := p.listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var cutting atomic.Bool // the next reply is lost
	go func() {
		defer client.Close()
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if err != nil || cutting.Load() {
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 1<<16)
	for {
		n, err := client.Read(buf) // one command: the driver waits for replies
		if err != nil {
			return
		}
		if n > 4 && buf[4] == comExecute && p.armed.Load() {
			cutting.Store(true)
			p.cuts.Add(1)
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}
