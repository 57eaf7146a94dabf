package model

import "slices"

// A segmentModel is the protocol of segments, of one tag and a few ids. When a node asks for a segment, an INCRBY, a SET or a DEL
// is left open, so the step rule, waits and pauses are left out: what is found holds for all of them.
type segmentModel struct {
	nodes  int
	end    int8 // the last id; the first is 1
	starts int8 // of nodes, in all
	admin  int8 // INCRBYs that need a lease, SETs, DELs and creations, in all
	late   int  // statements that are carried out after their node has given up, at a time

	kinds   []int8 // of statements that are sent, beside refills
	missing bool   // the tag is not there at first
	variant segmentVariant
}

// A segmentVariant is a protocol that design.md says must not be built.
type segmentVariant int

const (
	segmentsSound            segmentVariant = iota
	giveBackTwice                           // a give-back that is sent again when its reply is lost
	giveBackWhileServing                    // a give-back computed while ids are still drawn
	leaseBesideRefill                       // INCRBY's lease beside a refill in flight
	setBesideRefill                         // a SET beside a refill in flight
	deleteWithoutLock                       // a DEL that reads the row and then deletes it
	createAtReadMark                        // a creation at a value that the client read before
	healByOwnMark                           // a row that went back is raised to what the one node knows
	loseAcknowledgedIntegers                // a store that loses acknowledged writes, and no agreement of the nodes
)

// Kinds of statements.
const (
	noStatement int8 = iota
	refill
	reservation // INCRBY's lease
	setTo
	raiseFirst // to where SET left the row, before a lease: tag.leaseAbove
	retire
	create
	giveBack
)

// Where a statement is, beside sent, done and refused: a variant has read and not written yet, or there was no row.
const (
	hasRead int8 = refused + 1 + iota
	noRow
)

// Ids of a segment and of an INCRBY.
const (
	segment = 2
	block   = 2
)

// aRange is alloc.Range: [first, end).
type aRange struct{ first, end int8 }

func (r aRange) len() int8 { return r.end - r.first }

// statement is one to the store.
type statement struct {
	kind, at   int8
	node, life int8
	n          int8   // ids to lease
	to, when   int8   // max_id's new value; a give-back's condition
	then       int8   // the statement after raiseFirst
	got        aRange // what was leased
}

type segmentNode struct {
	phase, life       int8
	known             bool // the row is there, as far as the node knows
	stopped           bool // the store went backwards
	cur, queued       aRange
	high, floor, last int8         // as alloc's tag has them
	statements        [2]statement // the second is for variants
	granted           uint16       // the ids that the store granted to this process
}

type segmentState struct {
	there          bool // the row of leaf_alloc
	maxID, mark    int8 // its max_id; leaf_retired's, 0 without
	nodes          [maxNodes]segmentNode
	late           [maxLate]statement
	issued         uint16
	starts, admin  int8
	backup, copies int8 // max_id then; 1: one is kept, 2: it was restored
	healed         bool // by one node's mark
	broken         int8
}

func (m segmentModel) system() system[segmentState] {
	return system[segmentState]{
		start: m.start(), next: m.next,
		broken: func(s segmentState) string { return invariant(s.broken) },
	}
}

func (m segmentModel) start() segmentState {
	if m.missing {
		return segmentState{}
	}
	return segmentState{there: true, maxID: 1}
}

func (m segmentModel) sendsAny(kind int8) bool { return slices.Contains(m.kinds, kind) }

func (m segmentModel) next(s segmentState, emit func(step, segmentState)) {
	for i := range s.late[:m.late] {
		if st := s.late[i]; st.kind != noStatement {
			to := s
			at := m.carryOut(&to, &st)
			to.late[i] = statement{}
			if at == hasRead {
				st.at = at
				to.late[i] = st
			}
			emit(step{"'s late " + named(st.kind) + " is carried out", int(st.node), 0, 0, 0}, to)
		}
	}
	m.losses(s, emit)
	for i := range s.nodes[:m.nodes] {
		n := &s.nodes[i]
		if n.phase == down {
			if s.starts < m.starts {
				to := s
				to.starts++
				to.nodes[i] = segmentNode{phase: up, life: n.life + 1, known: s.there}
				emit(step{what: "starts", node: i}, to)
			}
			continue
		}
		for k := range n.statements {
			if n.statements[k].kind != noStatement {
				m.replies(s, i, k, emit)
			}
		}
		m.sends(s, i, emit)
		m.draws(s, i, emit)
		m.crash(s, i, emit)
	}
}

// losses is a store that loses acknowledged writes: in variants only.
func (m segmentModel) losses(s segmentState, emit func(step, segmentState)) {
	if m.variant != healByOwnMark && m.variant != loseAcknowledgedIntegers || s.copies == 2 || !s.there {
		return
	}
	to := s
	to.copies++
	if s.copies == 0 {
		to.backup = s.maxID
		emit(step{what: "a backup is made", node: -1}, to)
		return
	}
	to.maxID, to.backup = s.backup, 0
	emit(step{"the backup is restored, max_id %d", -1, s.backup, 0, 0}, to)
}

func named(kind int8) string {
	return [...]string{"", "refill", "lease for INCRBY", "SET", "raise to where SET left the row", "DEL", "creation", "give-back"}[kind]
}

// crash ends a process. What it sent may be lost, or late.
func (m segmentModel) crash(s segmentState, i int, emit func(step, segmentState)) {
	to := s
	to.nodes[i] = segmentNode{life: s.nodes[i].life}
	emit(step{what: "crashes", node: i}, to)
	for _, st := range s.nodes[i].statements {
		if slot := to.room(m.late); st.kind != noStatement && (st.at == sent || st.at == hasRead) && slot >= 0 {
			to.late[slot] = st
			emit(step{"crashes; its " + named(st.kind) + " is late", i, 0, 0, 0}, to)
		}
	}
}

func (s *segmentState) room(late int) int {
	for slot := range s.late[:late] {
		if s.late[slot].kind == noStatement {
			return slot
		}
	}
	return -1
}

// replies: a statement is carried out, its reply comes, or the node gives it up: the request or the reply is lost, or the
// request is late.
func (m segmentModel) replies(s segmentState, i, k int, emit func(step, segmentState)) {
	st := s.nodes[i].statements[k]
	if st.at == sent || st.at == hasRead {
		to := s
		at := m.carryOut(&to, &st)
		st.at = at
		to.nodes[i].statements[k] = st
		what := "'s " + named(st.kind) + " is carried out"
		if at == hasRead {
			what = "'s " + named(st.kind) + " has read"
		}
		emit(step{what, i, 0, 0, 0}, to)
	}
	if unheard := s.nodes[i].statements[k]; unheard.at == sent || unheard.at == hasRead {
		if slot := s.room(m.late); slot >= 0 {
			to := s
			to.late[slot] = unheard
			m.giveUp(&to, i, k)
			emit(step{"gives its " + named(st.kind) + " up, which is late", i, 0, 0, 0}, to)
		}
	} else {
		to := s
		m.hear(&to, i, k)
		emit(step{"hears of its " + named(st.kind) + heard(unheard), i, unheard.got.first, unheard.got.end - 1, 0}, to)
	}
	to := s
	m.giveUp(&to, i, k)
	emit(step{"gives its " + named(st.kind) + " up, which is lost", i, 0, 0, 0}, to)
}

// heard says how it ended.
func heard(st statement) string {
	switch {
	case st.at == noRow:
		return ": there is no such tag"
	case st.at == refused:
		return ": refused"
	case st.got.len() > 0:
		return ": %d to %d"
	}
	return ""
}

// giveUp: the range, if there is one, is abandoned.
func (m segmentModel) giveUp(s *segmentState, i, k int) {
	n := &s.nodes[i]
	st := n.statements[k]
	n.statements[k] = statement{}
	switch {
	case st.kind == giveBack && m.variant == giveBackTwice && st.then == 0:
		n.statements[k] = statement{kind: giveBack, node: st.node, life: st.life, to: st.to, when: st.when, then: 1}
	case st.kind == giveBack:
		*n = segmentNode{life: n.life}
	}
}

// carryOut is the statement itself, in sqlstore.
func (m segmentModel) carryOut(s *segmentState, st *statement) int8 {
	switch st.kind {
	case refill, reservation: // Store.Lease
		return s.lease(st, m.end)
	case setTo, raiseFirst: // Store.Advance
		return s.advance(st.to)
	case retire: // Store.Retire
		if m.variant == deleteWithoutLock && st.at == sent && s.there {
			st.to = s.maxID
			return hasRead
		}
		return s.retire(st, m.variant)
	case create: // Store.Create
		if m.variant == createAtReadMark && st.at == sent {
			st.to = max(1, s.mark)
			return hasRead
		}
		return s.create(st, m.variant)
	case giveBack: // Store.GiveBack
		if !s.there || s.maxID != st.when {
			return refused
		}
		s.maxID = st.to
		if n := &s.nodes[st.node]; n.life == st.life {
			n.granted &^= bits(aRange{st.to, st.when})
		}
	}
	return done
}

func bits(r aRange) (b uint16) {
	for id := r.first; id < r.end; id++ {
		b |= 1 << id
	}
	return b
}

func (s *segmentState) lease(st *statement, end int8) int8 {
	switch {
	case !s.there:
		return noRow
	case s.maxID+st.n > end+1:
		return refused
	}
	st.got = aRange{s.maxID, s.maxID + st.n}
	s.maxID += st.n
	if n := &s.nodes[st.node]; n.life == st.life && n.phase != down {
		n.granted |= bits(st.got)
	}
	return done
}

func (s *segmentState) advance(to int8) int8 {
	if s.there && s.maxID > to || !s.there && max(1, s.mark) > to {
		return refused
	}
	s.there, s.maxID = true, to
	return done
}

func (s *segmentState) retire(st *statement, v segmentVariant) int8 {
	if !s.there {
		return noRow
	}
	left := s.maxID
	if v == deleteWithoutLock {
		left = st.to
	}
	s.mark = max(s.mark, left)
	s.there, s.maxID = false, 0
	return done
}

func (s *segmentState) create(st *statement, v segmentVariant) int8 {
	if s.there {
		return done
	}
	s.there, s.maxID = true, max(1, s.mark)
	if v == createAtReadMark {
		s.maxID = st.to
	}
	return done
}
