package server

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"net"
	"slices"
	"strconv"

	"redleaf/alloc"
)

// peer is a node as clients are told of it. Its id comes from its address, so that a node which was restarted is the same.
type peer struct {
	addr string // as in leaf_node
	id   string // 40 hexadecimal digits, as Redis's
	host string // a name or an address, IPv6 without brackets
	port int
}

func newPeer(addr string) (p peer, ok bool) {
	host, digits, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return p, false
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return p, false
	}
	sum := sha1.Sum([]byte("redleaf node " + addr)) //nolint:gosec // it names, it protects nothing
	return peer{addr, hex.EncodeToString(sum[:]), host, int(port)}, true
}

// endpoint is host:port in the form of MOVED and CLUSTER NODES, where IPv6 has no brackets.
func (p peer) endpoint() string { return p.host + ":" + strconv.Itoa(p.port) }

// topology is the map of the nodes at one time. It is never changed.
type topology struct {
	generation uint64 // rises with every change
	peers      []peer // by address
	self       int    // this node's place among them; -1: it is not there
	departing  []peer // have left a moment ago, and may still serve: see watch.departures
	lost       uint64 // the latest generation that came because a node died
	ranges     []slotRange
	owner      [slotCount]uint16 // by slot; of no use without peers
	changed    [slotCount]uint64 // the generation that brought the slot's owner
}

// newTopology divides the slots over the peers. It succeeds old, which may be nil.
func newTopology(peers []peer, self string, old *topology) *topology {
	t := &topology{generation: 1, peers: peers, self: slices.IndexFunc(peers, func(p peer) bool { return p.addr == self })}
	if old != nil {
		t.generation, t.lost = old.generation+1, old.lost
	}
	names := make([]string, len(peers))
	for i, p := range peers {
		names[i] = p.addr
	}
	t.ranges = splitSlots(names)
	for _, r := range t.ranges {
		for slot := r.lo; slot <= r.hi; slot++ {
			t.owner[slot] = uint16(r.owner)
			t.changed[slot] = t.generation
			if old != nil && len(old.peers) > 0 && old.peers[old.owner[slot]].addr == peers[r.owner].addr {
				t.changed[slot] = old.changed[slot]
			}
		}
	}
	return t
}

// sortedPeers are the live nodes that clients can be told of, each address once, and self unless it leaves.
func sortedPeers(nodes []alloc.Node, self string, leaving bool) (peers []peer) {
	addrs := []string{self}
	for _, n := range nodes {
		if n.Live {
			addrs = append(addrs, n.Addr)
		}
	}
	slices.Sort(addrs)
	for _, addr := range slices.Compact(addrs) {
		if addr == self && leaving {
			continue
		}
		if p, ok := newPeer(addr); ok {
			peers = append(peers, p)
		}
	}
	return peers
}

// merge returns the peers of both lists.
func merge(a, b []peer) []peer {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b peer) int { return cmp.Compare(a.addr, b.addr) })
	return slices.Compact(all)
}

// maxReplicas bounds how many nodes are listed beside the owner of a range: with more, CLUSTER SLOTS becomes long.
const maxReplicas = 8

// others lists the nodes beside that one, the next by address first: every node serves every key, as a replica would
// that may be written to.
func (t *topology) others(node int) (all []peer) {
	for i := 1; i < len(t.peers) && len(all) < maxReplicas; i++ {
		all = append(all, t.peers[(node+i)%len(t.peers)])
	}
	return append(all, t.departing...)
}

// rangesOf returns the slots of a node.
func (t *topology) rangesOf(node int) (all []slotRange) {
	for _, r := range t.ranges {
		if r.owner == node {
			all = append(all, r)
		}
	}
	return all
}
