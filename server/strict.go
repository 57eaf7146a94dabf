package server

import (
	"strconv"

	"redleaf/alloc"
)

// Strict tags are drawn from at one node at a time. In a cluster that is the owner of the slot of segment:<tag>, whatever
// salt a key has, and other nodes answer MOVED. A node that leaves serves on until the others know: before that they would
// send clients back. Without a cluster it is the node that was asked first.

// redirectStrict returns MOVED for a strict tag that another node should serve, and leaves the tag to it.
func (c *client) redirectStrict(t *topology, key []byte) error {
	kind, tag := c.parseKey(key)
	if kind != segmentKey || !c.s.cfg.Segments.Strict(tag) {
		return nil
	}
	owner := int(t.owner[strictSlot(string(tag))])
	leaving := t.self < 0 && c.view.latest != everMoving
	if owner == t.self || leaving {
		return nil
	}
	c.s.cfg.Segments.Yield(string(tag))
	return c.moved(keySlot(key), t.peers[owner])
}

func (s *Server) anyStrict() bool { return s.cfg.Segments != nil && s.cfg.Segments.AnyStrict() }

// strictSlot is the slot whose owner serves a strict tag.
func strictSlot(tag string) int { return keySlot([]byte(segmentPrefix + tag)) }

// moved sends the client to another node.
func (c *client) moved(slot int, to peer) error {
	c.view.told = true
	c.s.watch.redirects.Add(1)
	return replyError("MOVED " + strconv.Itoa(slot) + " " + to.endpoint())
}

// heldElsewhere is the error for a strict tag that another node has not let go of. READONLY is Redis's word for a node at
// which nothing can be changed though it can at another: some clients look for that one then. Where the node that holds the
// tag is not there any more, only waiting helps.
func (c *client) heldElsewhere(held *alloc.HeldError) error {
	c.vain = true
	if held.Addr == c.s.cfg.Advertise {
		return replyError("TRYAGAIN strict tag '" + held.Tag + "' is held by an earlier process at this address: for 3 seconds after its end")
	}
	if !c.s.cfg.Cluster {
		return replyError("READONLY " + held.Error() + ", not by this node")
	}
	if t := c.s.watch.current.Load(); t != nil {
		for _, p := range t.peers {
			if p.addr == held.Addr {
				return c.moved(strictSlot(held.Tag), p)
			}
		}
	}
	return replyError("TRYAGAIN strict tag '" + held.Tag + "' is held by " + held.Addr + ", which is gone: for 3 seconds after its end")
}

// yieldStrict leaves the strict tags to others whose slots they own by the map, or all.
func (s *Server) yieldStrict(t *topology, all bool) {
	if s.cfg.Segments == nil {
		return
	}
	for _, tag := range s.cfg.Segments.Held() {
		if all || int(t.owner[strictSlot(tag)]) != t.self {
			s.cfg.Segments.Yield(tag)
		}
	}
}
