package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"
)

// clusterFlags say how several nodes show themselves to clients.
type clusterFlags struct {
	Advertise string `placeholder:"ADDR" help:"Address that other nodes and clients are told (default: the listen address)."`
	Cluster   bool   `help:"Show the nodes that share the store as a Redis Cluster, for clients in cluster mode; all of them or none."`
	Sentinel  string `placeholder:"NAME" help:"Answer SENTINEL on the same port, for a master of this name: the node that is asked."`
}

func (f clusterFlags) check(l listenFlags) error {
	errs := []error{checkAddr("--advertise", f.Advertise)}
	if f.told() && isWildcard(f.Advertise) {
		errs = append(errs, fmt.Errorf("--advertise %s: clients can't connect to it; name this machine", f.Advertise))
	}
	if f.told() && l.Listen == "" && l.TLSListen == "" {
		errs = append(errs, errors.New("--cluster/--sentinel: there is no port to send clients to, only a Unix socket"))
	}
	if f.Cluster && f.Sentinel != "" {
		errs = append(errs, errors.New("--cluster and --sentinel: give one of them; clients of the one do not follow the other's redirections"))
	}
	if strings.ContainsAny(f.Sentinel, " \t\r\n") {
		errs = append(errs, fmt.Errorf("--sentinel %q: want a name without spaces", f.Sentinel))
	}
	return errors.Join(errs...)
}

// told reports whether clients are told of nodes at all.
func (f clusterFlags) told() bool { return f.Cluster || f.Sentinel != "" }

// joinDelay is how long a node that clients are told of serves before the others know of it: clients which failed to
// connect when an earlier one was killed try again once a second.
const joinDelay = 1500 * time.Millisecond

// delay is how long the first heartbeat waits.
func (f clusterFlags) delay() time.Duration {
	if f.told() {
		return joinDelay
	}
	return 0
}

// isWildcard reports whether an address means all of this machine's.
func isWildcard(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && (host == "" || ip != nil && ip.IsUnspecified())
}

// address returns what others are told: --advertise, or the address of the first port. When that means all addresses of
// this machine, one is guessed.
func (f clusterFlags) address(listeners []net.Listener, store string, log *slog.Logger) string {
	if f.Advertise != "" {
		return f.Advertise
	}
	addr := listeners[0].Addr().String()
	if !isWildcard(addr) {
		return addr
	}
	_, port, _ := net.SplitHostPort(addr) // a listener's
	addr = net.JoinHostPort(guessHost(store), port)
	log.Warn("--advertise is not given and the port listens on all addresses: other nodes and clients are told a guess", "addr", addr)
	return addr
}

// guessHost returns the address from which this machine reaches the store, or its first that others can reach.
func guessHost(store string) string {
	if u, err := url.Parse(store); err == nil && u.Host != "" {
		if ip := sourceFor(u.Host); ip != nil && !ip.IsLoopback() {
			return ip.String()
		}
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return "127.0.0.1"
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

// sourceFor asks the routing table; nothing is sent.
func sourceFor(hostPort string) net.IP {
	if _, _, err := net.SplitHostPort(hostPort); err != nil {
		hostPort = net.JoinHostPort(strings.Trim(hostPort, "[]"), "3306")
	}
	conn, err := net.Dial("udp", hostPort) //nolint:noctx // it sends nothing and waits for nothing but the name's address
	if err != nil {
		return nil
	}
	defer conn.Close()
	if addr, ok := conn.LocalAddr().(*net.UDPAddr); ok {
		return addr.IP
	}
	return nil
}
