package server

import (
	"fmt"
	"strconv"
	"strings"
)

// The sentinel protocol, for clients that find their server through it: every node answers that it is the master, since
// any is as good, until it leaves; then the master is another, and listeners of +switch-master are told.

// master returns who is the master now. ok is false when nobody is there.
func (s *Server) master() (p peer, ok bool) {
	t := s.watch.current.Load()
	self, hasAddr := newPeer(s.cfg.Advertise)
	switch {
	case t == nil || !hasAddr:
		return p, false
	case t.self >= 0 || len(t.peers) == 0:
		return self, true
	}
	return t.peers[weight(self.addr, 0)%uint64(len(t.peers))], true
}

// announceSuccessor publishes +switch-master when this node has left the map.
func (s *Server) announceSuccessor() {
	self, _ := newPeer(s.cfg.Advertise)
	if next, ok := s.master(); ok && s.cfg.Sentinel != "" && next != self {
		s.announce("+switch-master", fmt.Sprintf("%s %s %d %s %d", s.cfg.Sentinel, self.host, self.port, next.host, next.port))
	}
}

// sentinelCmd is SENTINEL and its subcommands.
func (c *client) sentinelCmd(args [][]byte) error {
	sub := strings.ToLower(string(args[1]))
	for _, one := range c.last.subcommands() {
		if one.name == sub {
			if !(&command{arity: one.arity}).fits(len(args)) {
				return wrongArity("sentinel|" + sub)
			}
			return c.sentinelSub(sub, args[2:])
		}
	}
	return unknownSubcommand("SENTINEL", args[1])
}

func (c *client) sentinelSub(sub string, args [][]byte) error {
	master, ok := c.s.master()
	switch {
	case sub == "help":
		c.help("SENTINEL", "CKQUORUM <master-name>", "GET-MASTER-ADDR-BY-NAME <master-name>", "IS-MASTER-DOWN-BY-ADDR <ip> <port> <current-epoch> <runid>", "MASTER <master-name>", "MASTERS", "MYID", "REPLICAS <master-name>", "SENTINELS <master-name>")
		return nil
	case sub == "masters" && !ok:
		c.array(0)
		return nil
	case sub == "masters":
		c.array(1)
		c.pairs(c.s.masterFields(master))
		return nil
	case sub == "myid":
		self, _ := newPeer(c.s.cfg.Advertise)
		c.bulk(self.id)
		return nil
	case sub == "is-master-down-by-addr": // 0: it is up; no vote
		c.array(3)
		c.int(0)
		c.bulk("*")
		c.int(0)
		return nil
	}
	known := ok && string(args[0]) == c.s.cfg.Sentinel
	if sub == "get-master-addr-by-name" {
		c.masterAddr(master, known)
		return nil
	}
	if !known {
		return replyError("ERR No such master with that name")
	}
	c.sentinelOfMaster(sub, master)
	return nil
}

// masterAddr is SENTINEL GET-MASTER-ADDR-BY-NAME; its nil is an array's.
func (c *client) masterAddr(master peer, known bool) {
	switch {
	case known:
		c.array(2)
		c.bulk(master.host)
		c.bulk(strconv.Itoa(master.port))
	case c.resp3:
		c.null()
	default:
		c.out = append(c.out, "*-1\r\n"...)
	}
}

func (c *client) sentinelOfMaster(sub string, master peer) {
	others := c.s.besides(master)
	switch sub {
	case "master":
		c.pairs(c.s.masterFields(master))
	case "ckquorum":
		c.status(fmt.Sprintf("OK %d usable Sentinels. Quorum and failover authorization can be reached", len(others)+1))
	case "sentinels":
		c.array(len(others))
		for _, p := range others {
			c.pairs(sentinelFields(p))
		}
	default: // replicas, slaves
		c.array(len(others))
		for _, p := range others {
			c.pairs(replicaFields(p, master))
		}
	}
}

// besides lists the nodes other than that one.
func (s *Server) besides(master peer) (others []peer) {
	for _, p := range s.watch.current.Load().peers {
		if p != master {
			others = append(others, p)
		}
	}
	return others
}

// pairs replies with a map of strings.
func (c *client) pairs(fields []string) {
	c.mapOf(len(fields) / 2)
	for _, f := range fields {
		c.bulk(f)
	}
}

func instanceFields(name, flags string, p peer) []string {
	return []string{"name", name, "ip", p.host, "port", strconv.Itoa(p.port), "runid", p.id, "flags", flags, "link-pending-commands", "0", "link-refcount", "1",
		"last-ping-sent", "0", "last-ok-ping-reply", "0", "last-ping-reply", "0", "down-after-milliseconds", "3000"}
}

func (s *Server) masterFields(master peer) []string {
	others := strconv.Itoa(len(s.besides(master)))
	return append(instanceFields(s.cfg.Sentinel, "master", master), "info-refresh", "0", "role-reported", "master", "role-reported-time", "0", "config-epoch", "0",
		"num-slaves", others, "num-other-sentinels", others, "quorum", "1", "failover-timeout", "3000", "parallel-syncs", "1")
}

func sentinelFields(p peer) []string {
	return append(instanceFields(p.id, "sentinel", p), "last-hello-message", "0", "voted-leader", "?", "voted-leader-epoch", "0")
}

func replicaFields(p, master peer) []string {
	return append(instanceFields(p.endpoint(), "slave", p), "info-refresh", "0", "role-reported", "slave", "role-reported-time", "0", "master-link-down-time", "0",
		"master-link-status", "ok", "master-host", master.host, "master-port", strconv.Itoa(master.port), "slave-priority", "100", "slave-repl-offset", "0", "replica-announced", "1")
}
