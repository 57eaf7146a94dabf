package server

import (
	"bytes"

	"github.com/tidwall/redcon"
)

// Sizes of a connection's memory of requests.
const (
	memoSlots   = 16
	memoRequest = 128 // longer requests are not worth it

	memoCredit = 64   // surprises, beyond what was expected, before the memory is put aside
	memoPause  = 4000 // requests for which it is
)

// memo remembers a connection's latest requests, parsed, and which followed which. Pipelines draw from a few tags in turn,
// again and again: a request that comes as expected costs one comparison instead of being framed, split and looked up.
// A request is never the beginning of another, so the comparison decides.
type memo struct {
	slots [memoSlots]remembered
	last  int // the slot of the request before
	spare int // the slot to be written next

	credit int // rises with what came as expected, falls with surprises
	paused int // requests still to pass before the memory is used again
}

// remembered is one request. Its arguments point into raw, which is its own.
type remembered struct {
	raw  []byte
	cmd  *command
	args [][]byte
	next int // the slot of the request that followed it the last time
}

// expected returns the request that followed the last one before, if buf begins with it.
func (m *memo) expected(buf []byte) *remembered {
	if m.paused > 0 {
		return nil
	}
	i := m.slots[m.last].next
	r := &m.slots[i]
	if r.raw == nil || !bytes.HasPrefix(buf, r.raw) {
		return nil
	}
	m.last = i
	m.credit = min(m.credit+1, memoCredit)
	return r
}

// learn notes the request that came as a surprise. Where most do, as from a client that draws from a thousand tags, the
// memory is put aside for a while.
func (m *memo) learn(raw []byte, cmd *command) {
	if m.paused > 0 {
		m.paused--
		return
	}
	if m.credit--; m.credit < -memoCredit {
		m.credit, m.paused = 0, memoPause
		return
	}
	if len(raw) > memoRequest {
		return
	}
	i := m.find(raw)
	if i < 0 {
		i = m.spare
		m.spare = (m.spare + 1) % memoSlots
		m.slots[i].set(raw, cmd)
	}
	m.slots[m.last].next = i
	m.last = i
}

func (m *memo) find(raw []byte) int {
	for i := range m.slots {
		if bytes.Equal(m.slots[i].raw, raw) {
			return i
		}
	}
	return -1
}

// set copies the request.
func (r *remembered) set(raw []byte, cmd *command) {
	r.raw = append(r.raw[:0], raw...)
	r.cmd = cmd
	_, r.args, _, _, _ = redcon.ReadNextCommand(r.raw, r.args) // it was read before
}
