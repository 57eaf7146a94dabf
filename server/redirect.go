package server

import (
	"net"
	"time"
)

// Every node serves every key that is not of a strict tag, so MOVED is never needed for an answer to be right. It is what makes clients of Redis
// Cluster read the map again. They are told once a connection after the map has changed, if it has for the key they ask
// about, and always while this node leaves. After a node has died they are told about any key: some clients never read the
// map again because of a node that does not answer.

// maxLooks is after how many keys of unchanged slots a connection counts as informed.
const maxLooks = 1000

const (
	tellEvery = 100 * time.Millisecond // between two answers that send clients of one host to where they are
	maxTold   = 10_000                 // hosts remembered for that
)

// mapView is what a connection knows of the map.
type mapView struct {
	seen     uint64 // generation that its client has
	latest   uint64 // generation when this pipeline began
	told     bool   // MOVED was answered in this pipeline
	looks    int    // keys looked at since latest changed
	readOnly bool   // READONLY: the client means to ask any node
}

// current reports whether nothing has to be told. It is asked for each request.
func (v *mapView) current() bool { return v.seen == v.latest }

// beginPipeline takes note of the map once a pipeline. After MOVED a whole pipeline gets the same answer: clients that try
// it again as a whole would otherwise find one that was half done.
func (c *client) beginPipeline() {
	v := &c.view
	if v.told && !c.in.filled { // a read that filled the buffer was not the end of its pipeline
		v.told = false
		c.informed()
	}
	if now := c.s.watch.generation.Load(); now != v.latest {
		v.latest, v.looks = now, 0
	}
}

// informed takes note that the client was shown the map.
func (c *client) informed() {
	if c.view.latest != everMoving {
		c.view.seen = c.view.latest
	}
}

// redirect returns MOVED if the client should look at the map. A transaction is moved as a whole or not at all.
func (c *client) redirect(cmd *command, args [][]byte) error {
	strict := cmd.flags&write != 0 && c.s.cfg.Cluster && c.s.anyStrict()
	if c.view.current() && !strict || cmd.keys[0] == 0 || len(args) <= cmd.keys[0] || c.tx.queued > 0 {
		return nil
	}
	t := c.s.watch.current.Load()
	if t == nil || len(t.peers) == 0 {
		return nil
	}
	if strict {
		if err := c.redirectStrict(t, args[cmd.keys[0]]); err != nil {
			return err
		}
	}
	if c.view.current() {
		return nil
	}
	slot := keySlot(args[cmd.keys[0]])
	owner := t.peers[t.owner[slot]]
	if c.view.latest != everMoving && !c.stale(t, cmd, slot) {
		return nil
	}
	return c.moved(slot, owner)
}

// stale reports whether a request that came here shows that the client has an old map.
func (c *client) stale(t *topology, cmd *command, slot int) bool {
	v := &c.view
	if v.looks++; v.looks > maxLooks {
		c.informed()
		return false
	}
	if v.readOnly && cmd.flags&readonly != 0 {
		return false
	}
	if int(t.owner[slot]) != t.self {
		return t.changed[slot] > v.seen
	}
	return t.lost > v.seen && c.s.watch.mayTell(c.addr)
}

// mayTell bounds how often the clients of a host are sent to where they are, so that a request which is tried again on
// another connection is served: some clients give up after three times.
func (w *watch) mayTell(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if last, ok := w.told[host]; ok && time.Since(last) < tellEvery || len(w.told) >= maxTold {
		return false
	}
	w.told[host] = time.Now()
	return true
}
