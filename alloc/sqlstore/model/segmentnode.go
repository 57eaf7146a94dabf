package model

// What a node does by itself: alloc's part of the protocol.

// sends: the statements that a node may send. One at a time: tag.loader.
func (m segmentModel) sends(s segmentState, i int, emit func(step, segmentState)) {
	n := &s.nodes[i]
	if first := n.statements[0]; first.kind != noStatement {
		if n.statements[1].kind == noStatement && first.kind == refill && n.phase == up && s.admin < m.admin {
			m.beside(s, i, emit)
		}
		return
	}
	if n.statements[1].kind != noStatement {
		return
	}
	if n.phase == closed {
		m.giveBacks(s, i, emit)
		return
	}
	m.leases(s, i, emit)
	if s.admin < m.admin {
		m.changes(s, i, emit)
	}
	if m.sendsAny(giveBack) {
		to := s
		to.nodes[i].phase = closed // Allocator.stop
		emit(step{what: "stops drawing", node: i}, to)
	}
}

// beside: what variants send beside a refill in flight.
func (m segmentModel) beside(s segmentState, i int, emit func(step, segmentState)) {
	switch {
	case m.variant == leaseBesideRefill:
		m.emitSent(s, i, 1, statement{kind: reservation, n: block + 1}, emit)
	case m.variant == setBesideRefill && s.there && s.maxID < m.end:
		m.emitSent(s, i, 1, statement{kind: setTo, to: s.maxID + 1}, emit)
	}
}

// leases: tag.refill and tag.leaseFor, by way of tag.leaseAbove.
func (m segmentModel) leases(s segmentState, i int, emit func(step, segmentState)) {
	n := &s.nodes[i]
	if !n.known || n.stopped {
		return
	}
	if n.queued.len() == 0 && n.cur.len() < segment {
		m.lease(s, i, refill, segment, emit)
	}
	if _, ok := n.fitting(); !ok && s.admin < m.admin && m.sendsAny(reservation) {
		m.lease(s, i, reservation, block+1, emit)
	}
}

func (m segmentModel) lease(s segmentState, i int, kind, ids int8, emit func(step, segmentState)) {
	if kind == reservation {
		s.admin++
	}
	n := &s.nodes[i]
	st := statement{kind: kind, n: ids}
	if n.floor > n.high {
		st = statement{kind: raiseFirst, to: n.floor, n: ids, then: kind}
	}
	m.emitSent(s, i, 0, st, emit)
}

// changes: Allocator.Set, Allocator.Delete, and the creation of a tag that is asked for and not there.
func (m segmentModel) changes(s segmentState, i int, emit func(step, segmentState)) {
	n := &s.nodes[i]
	s.admin++
	if s.there && s.maxID < m.end && m.sendsAny(setTo) {
		m.emitSent(s, i, 0, statement{kind: setTo, to: s.maxID + 1}, emit)
	}
	if m.sendsAny(retire) {
		m.emitSent(s, i, 0, statement{kind: retire}, emit)
	}
	if !n.known {
		m.emitSent(s, i, 0, statement{kind: create}, emit)
	}
}

func (m segmentModel) emitSent(s segmentState, i, k int, st statement, emit func(step, segmentState)) {
	if k == 1 {
		s.admin++
	}
	st.node, st.life = int8(i), s.nodes[i].life
	s.nodes[i].statements[k] = st
	what := "sends its " + named(st.kind)
	switch st.kind {
	case setTo, raiseFirst:
		what += ", max_id %d"
	case giveBack:
		what += " of %d to %d"
	}
	a, b := st.to, int8(0)
	if st.kind == giveBack {
		b = st.when - 1
	}
	emit(step{what, i, a, b, 0}, s)
}

// giveBacks: tag.giveBack, once, of the unbroken range at the very end (segments.tail). Nothing to give back: it ends.
func (m segmentModel) giveBacks(s segmentState, i int, emit func(step, segmentState)) {
	n := &s.nodes[i]
	tail := n.queued
	if tail.len() == 0 {
		tail = n.cur
	} else if n.cur.end == tail.first {
		tail.first = n.cur.first
	}
	if m.variant != giveBackWhileServing {
		n.cur, n.queued = aRange{}, aRange{}
	}
	if tail.len() == 0 {
		s.nodes[i] = segmentNode{life: n.life}
		emit(step{what: "ends", node: i}, s)
		return
	}
	m.emitSent(s, i, 0, statement{kind: giveBack, to: tail.first, when: tail.end}, emit)
}

// hear is the reply.
func (m segmentModel) hear(s *segmentState, i, k int) {
	n := &s.nodes[i]
	st := n.statements[k]
	n.statements[k] = statement{}
	switch {
	case st.kind == giveBack:
		*n = segmentNode{life: n.life}
	case st.kind == raiseFirst:
		n.statements[k] = statement{kind: st.then, node: st.node, life: st.life, n: st.n}
	case st.at == noRow, st.kind == retire: // tag.vanish
		n.cur, n.queued, n.known = aRange{}, aRange{}, false
	case st.at == refused:
	case st.kind == setTo: // tag.advanced
		n.cur, n.queued, n.known = aRange{}, aRange{}, true
		n.floor, n.last = max(n.floor, st.to), max(n.last, st.to-1)
	case st.kind == create:
		n.known = true
	default:
		m.granted(s, i, st)
	}
}

// granted is tag.grant, then tag.refilled or tag.leaseFor.
func (m segmentModel) granted(s *segmentState, i int, st statement) {
	n := &s.nodes[i]
	got := st.got
	switch beside := m.variant == leaseBesideRefill || m.variant == setBesideRefill; {
	case beside: // the variants do not void it
	case got.first < n.high && m.variant == healByOwnMark:
		s.healed = true
		n.statements[0] = statement{kind: raiseFirst, node: st.node, life: st.life, to: n.high, n: st.n, then: st.kind}
		return
	case got.first < n.high:
		n.cur, n.queued, n.stopped = aRange{}, aRange{}, true
		return
	default:
		got.first = min(max(got.first, n.floor), got.end)
	}
	n.high = max(n.high, got.end)
	if st.kind == refill {
		n.push(got)
		return
	}
	n.cur, n.queued = got, aRange{}
	if got.len() >= block && n.phase == up {
		s.issue(i, block, m.variant)
	}
}

func (n *segmentNode) push(r aRange) {
	if n.cur.len() == 0 {
		n.cur = r
	} else {
		n.queued = r
	}
}

// fitting returns where a block of consecutive ids begins that is at hand (segments.reserve).
func (n *segmentNode) fitting() (first int8, ok bool) {
	switch adjacent := n.queued.len() > 0 && n.cur.end == n.queued.first; {
	case n.cur.len() >= block, adjacent && n.cur.len()+n.queued.len() >= block:
		return n.cur.first, true
	case n.queued.len() >= block:
		return n.queued.first, true
	}
	return 0, false
}

// draws: an INCR (segments.take), or an INCRBY of what is at hand.
func (m segmentModel) draws(s segmentState, i int, emit func(step, segmentState)) {
	n := &s.nodes[i]
	serving := n.phase == up || m.variant == giveBackWhileServing && n.statements[0].kind == giveBack
	if !serving || n.stopped {
		return
	}
	if n.cur.len() > 0 || n.queued.len() > 0 {
		to := s
		to.nodes[i].promote()
		id := to.nodes[i].cur.first
		to.issue(i, 1, m.variant)
		emit(step{"issues %d", i, id, 0, 0}, to)
	}
	if first, ok := n.fitting(); ok && m.sendsAny(reservation) {
		to := s
		at := &to.nodes[i]
		for at.cur.first < first || at.cur.len() == 0 {
			at.cur = aRange{}
			at.promote()
		}
		to.issue(i, block, m.variant)
		emit(step{"issues %d and %d", i, first, first + 1, 0}, to)
	}
}

// promote makes the queued segment the current one when that is used up.
func (n *segmentNode) promote() {
	if n.cur.len() == 0 {
		n.cur, n.queued = n.queued, aRange{}
	}
}

// issue takes ids off the node's front, across two adjacent segments if need be, and checks the invariants.
func (s *segmentState) issue(i int, ids int8, v segmentVariant) {
	n := &s.nodes[i]
	for range ids {
		n.promote()
		id := n.cur.first
		n.cur.first++
		bit := uint16(1) << id
		switch {
		case s.issued&bit != 0 && v == healByOwnMark && !s.healed: // a repetition that has nothing to do with healing
		case s.issued&bit != 0:
			s.broken = twice
		case n.granted&bit == 0 && v == segmentsSound: // of a variant it is asked whether an id comes twice
			s.broken = outside
		case id <= n.last:
			s.broken = backwards
		}
		n.last = max(n.last, id)
		s.issued |= bit
	}
}
