package server

import (
	"fmt"
	"strconv"
	"strings"
)

// mode is what HELLO and INFO call this kind of server.
func (s *Server) mode() string {
	if s.cfg.Cluster {
		return "cluster"
	}
	return "standalone"
}

// clusterCmd is CLUSTER and its subcommands. Without --cluster this node shows itself as a plain Redis.
func (c *client) clusterCmd(args [][]byte) error {
	t := c.s.watch.current.Load()
	if !c.s.cfg.Cluster || t == nil {
		return c.clusterOff(args)
	}
	sub := strings.ToLower(string(args[1]))
	found := false
	for _, one := range c.last.subcommands() {
		if one.name != sub {
			continue
		}
		if found = true; !(&command{arity: one.arity}).fits(len(args)) {
			return wrongArity("cluster|" + sub)
		}
	}
	if !found {
		return unknownSubcommand("CLUSTER", args[1])
	}
	return c.clusterSub(t, sub, args[2:])
}

func (c *client) clusterSub(t *topology, sub string, args [][]byte) error {
	switch sub {
	case "slots":
		c.informed()
		c.clusterSlots(t)
	case "shards":
		c.informed()
		c.clusterShards(t)
	case "nodes":
		c.informed()
		c.text(t.lines(c.s.cfg.Advertise))
	case "info":
		c.text(t.info())
	case "myid":
		self, _ := newPeer(c.s.cfg.Advertise)
		c.bulk(self.id)
	case "keyslot":
		c.int(int64(keySlot(args[0])))
	case "links": // there is no bus
		c.array(0)
	case "replicas", "slaves", "count-failure-reports":
		return c.clusterOfNode(t, sub, string(args[0]))
	case "countkeysinslot", "getkeysinslot":
		return c.clusterKeys(sub, args)
	case "help":
		c.help("CLUSTER", "COUNTKEYSINSLOT <slot>", "GETKEYSINSLOT <slot> <count>", "INFO", "KEYSLOT <key>", "LINKS", "MYID", "NODES", "REPLICAS <node-id>", "SHARDS", "SLOTS")
	default:
		return replyError("ERR CLUSTER " + strings.ToUpper(sub) + " is not supported: nodes find each other in the database, and divide the slots by themselves")
	}
	return nil
}

// clusterSlots is CLUSTER SLOTS: each range with its owner and, as replicas, the other nodes.
func (c *client) clusterSlots(t *topology) {
	c.array(len(t.ranges))
	for _, r := range t.ranges {
		others := t.others(r.owner)
		c.array(3 + len(others))
		c.int(int64(r.lo))
		c.int(int64(r.hi))
		for _, p := range append([]peer{t.peers[r.owner]}, others...) {
			c.array(4)
			c.bulk(p.host)
			c.int(int64(p.port))
			c.bulk(p.id)
			c.mapOf(0)
		}
	}
}

// clusterShards is CLUSTER SHARDS: each node as the master of its slots.
func (c *client) clusterShards(t *topology) {
	c.array(len(t.peers))
	for i, p := range t.peers {
		c.mapOf(2)
		c.bulk("slots")
		ranges := t.rangesOf(i)
		c.array(2 * len(ranges))
		for _, r := range ranges {
			c.int(int64(r.lo))
			c.int(int64(r.hi))
		}
		c.bulk("nodes")
		others := t.others(i)
		c.array(1 + len(others))
		c.shardNode(p, "master")
		for _, other := range others {
			c.shardNode(other, "replica")
		}
	}
}

func (c *client) shardNode(p peer, role string) {
	c.mapOf(7)
	c.bulk("id")
	c.bulk(p.id)
	c.bulk("port")
	c.int(int64(p.port))
	c.bulk("ip")
	c.bulk(p.host)
	c.bulk("endpoint")
	c.bulk(p.host)
	c.bulk("role")
	c.bulk(role)
	c.bulk("replication-offset")
	c.int(0)
	c.bulk("health")
	c.bulk("online")
}

// lines is CLUSTER NODES. A node has one line there, so all are masters but those that leave.
func (t *topology) lines(self string) string {
	var b strings.Builder
	for i, p := range t.peers {
		flags := "master"
		if i == t.self {
			flags = "myself,master"
		}
		fmt.Fprintf(&b, "%s %s@%d %s - 0 0 %d connected", p.id, p.endpoint(), busPort(p.port), flags, i+1)
		for _, r := range t.rangesOf(i) {
			b.WriteString(" " + strconv.Itoa(r.lo))
			if r.hi > r.lo {
				b.WriteString("-" + strconv.Itoa(r.hi))
			}
		}
		b.WriteString("\n")
	}
	for _, p := range t.departing {
		flags := "slave"
		if p.addr == self {
			flags = "myself,slave"
		}
		fmt.Fprintf(&b, "%s %s@%d %s %s 0 0 1 connected\n", p.id, p.endpoint(), busPort(p.port), flags, t.peers[0].id)
	}
	return b.String()
}

// busPort is where Redis's nodes would talk to each other. Here nobody listens; clients want a number.
func busPort(port int) int {
	if port+10000 > 65535 {
		return 0
	}
	return port + 10000
}

// info is CLUSTER INFO.
func (t *topology) info() string {
	var b strings.Builder
	line(&b, "cluster_state", "ok")
	line(&b, "cluster_slots_assigned", slotCount)
	line(&b, "cluster_slots_ok", slotCount)
	line(&b, "cluster_slots_pfail", 0)
	line(&b, "cluster_slots_fail", 0)
	line(&b, "cluster_known_nodes", len(t.peers)+len(t.departing))
	line(&b, "cluster_size", len(t.peers))
	line(&b, "cluster_current_epoch", len(t.peers))
	line(&b, "cluster_my_epoch", t.self+1)
	line(&b, "cluster_stats_messages_sent", 0)
	line(&b, "cluster_stats_messages_received", 0)
	line(&b, "total_cluster_links_buffer_limit_exceeded", 0)
	return b.String()
}

// clusterOfNode is CLUSTER REPLICAS and CLUSTER COUNT-FAILURE-REPORTS: none, of a node that is there.
func (c *client) clusterOfNode(t *topology, sub, id string) error {
	for _, p := range t.peers {
		switch {
		case p.id != id:
		case sub == "count-failure-reports":
			c.int(0)
			return nil
		default:
			c.array(0)
			return nil
		}
	}
	return replyError("ERR Unknown node " + string(clip([]byte(id), 128)))
}

// clusterKeys is CLUSTER COUNTKEYSINSLOT and CLUSTER GETKEYSINSLOT, over all segment tags.
func (c *client) clusterKeys(sub string, args [][]byte) error {
	slot, err := parseInt(args[0])
	if err != nil {
		return err
	}
	most := int64(maxKeys)
	if len(args) > 1 {
		if most, err = parseInt(args[1]); err != nil {
			return err
		}
	}
	switch counting := sub == "countkeysinslot"; {
	case counting && (slot < 0 || slot >= slotCount):
		return replyError("ERR Invalid slot")
	case slot < 0 || slot >= slotCount || most < 0:
		return replyError("ERR Invalid slot or number of keys")
	}
	keys, err := c.keysInSlot(int(slot), int(min(most, maxKeys)))
	if err != nil {
		return err
	}
	if sub == "countkeysinslot" {
		c.int(int64(len(keys)))
		return nil
	}
	c.listKeys(keys)
	return nil
}

func (c *client) keysInSlot(slot, most int) (found []string, err error) {
	for after := ""; c.s.cfg.Segments != nil; {
		rows, err := c.s.cfg.Segments.List(c.patience(), after, keysPage)
		if err != nil {
			return nil, c.drawn(nil, err)
		}
		for _, row := range rows {
			if key := c.s.key(row.Tag); keySlot([]byte(key)) == slot && len(found) < most {
				found = append(found, key)
			}
		}
		if len(rows) < keysPage || len(found) >= most {
			break
		}
		after = rows[len(rows)-1].Tag
	}
	return found, nil
}

// readOnlyCmd is READONLY, readWriteCmd READWRITE, asking ASKING.
func (c *client) readOnlyCmd(args [][]byte) error  { return c.setReadOnly(args, true) }
func (c *client) readWriteCmd(args [][]byte) error { return c.setReadOnly(args, false) }

func (c *client) setReadOnly(args [][]byte, yes bool) error {
	if !c.s.cfg.Cluster {
		return c.clusterOff(args)
	}
	c.view.readOnly = yes
	c.status("OK")
	return nil
}

func (c *client) asking(args [][]byte) error {
	if !c.s.cfg.Cluster {
		return c.clusterOff(args)
	}
	c.status("OK")
	return nil
}
