package model

import (
	"cmp"
	"slices"
)

const (
	maxNodes   = 3
	maxWorkers = 2
	maxLate    = 2
)

// A windowModel is the protocol of worker windows. Time is a few milliseconds. A node's clock goes on as it likes, which
// stands for pauses and for clocks that are off or jump ahead, and is set back when the node is down; the database's clock
// is left out, since nothing may rest on it. A millisecond of a worker is issued as a whole.
type windowModel struct {
	nodes, workers int
	end            int8 // the last millisecond; the first is 1
	writes         int8 // to rows, in all
	starts         int8 // of nodes, in all
	late           int  // writes that are carried out after their node has given up, at a time

	variant windowVariant
}

// A windowVariant is a protocol that design.md says must not be built.
type windowVariant int

const (
	windowsSound            windowVariant = iota
	compareMarks                          // compare-and-set on until alone, and a release that is sent again when its reply is lost
	adoptByOwner                          // a node takes a row for its own because its name is in it
	moveBack                              // an extension may move the mark back
	releaseWhileServing                   // a release while a call is in flight
	unusedToZero                          // the release of a window that was not used writes 0
	deleteRows                            // rows are deleted when their windows have passed
	loseAcknowledgedWindows               // a store that loses acknowledged writes
)

// What a node is doing.
const (
	down int8 = iota
	up
	closed // draws nothing more: Node.Close
)

// What a write to a row is for.
const (
	noWrite int8 = iota
	claim
	extend
	release
)

// Where a write is.
const (
	sent int8 = iota
	done
	refused
)

// windowWrite is Windows.Swap: the row gets token and until if it has the token old.
type windowWrite struct {
	kind, at   int8
	node, life int8
	worker     int8
	old, token int8
	from       int8 // the mark that was read
	until      int8
}

// windowRow is a row of leaf_worker; one without token is missing.
type windowRow struct {
	token, until int8
	owner        int8 // a node's name, counted from 1; kept for adoptByOwner alone
}

// aWindow is snowflake's window: (from, until].
type aWindow struct {
	there             bool
	worker            int8
	from, until, used int8
}

type windowNode struct {
	phase, life int8
	now         int8 // its clock
	ts, worker  int8 // the position: what was issued last
	windows     [2]aWindow
	lease       windowRow // of the row last written
	leased      bool
	of          int8 // whose row that is
	write       windowWrite
	granted     [maxWorkers]uint16 // the milliseconds that the store granted to this process
}

type windowState struct {
	rows           [maxWorkers]windowRow
	nodes          [maxNodes]windowNode
	late           [maxLate]windowWrite
	issued         [maxWorkers]uint16
	writes, starts int8
	backup         [maxWorkers]windowRow
	backups        int8 // 1: one is kept, 2: it was restored
	broken         int8
}

// Invariants.
const (
	noneBroken int8 = iota
	twice
	outside
	backwards
)

func invariant(broken int8) string {
	return [...]string{"", "an id twice", "an id outside an owned range", "an id after a larger one"}[broken]
}

func (m windowModel) system() system[windowState] {
	return system[windowState]{next: m.next, broken: func(s windowState) string { return invariant(s.broken) }}
}

func (m windowModel) next(s windowState, emit func(step, windowState)) {
	for i := range s.late[:m.late] {
		if w := s.late[i]; w.kind != noWrite {
			to := s
			to.late[i] = windowWrite{}
			m.carryOut(&to, &w)
			sortLate(&to)
			emit(step{"'s late write of worker %d is carried out", int(w.node), w.worker, 0, 0}, to)
		}
	}
	m.storeSteps(s, emit)
	for i := range s.nodes[:m.nodes] {
		n := s.nodes[i]
		switch {
		case n.phase == down:
			m.startSteps(s, i, emit)
			continue
		case n.write.kind != noWrite:
			m.replySteps(s, i, emit)
		case n.phase == closed:
			m.releaseSteps(s, i, emit)
		default:
			m.writeSteps(s, i, emit)
		}
		m.drawSteps(s, i, emit)
		m.crash(s, i, emit)
	}
}

// storeSteps are what happens to the rows by themselves: in variants only.
func (m windowModel) storeSteps(s windowState, emit func(step, windowState)) {
	if m.variant == loseAcknowledgedWindows && s.backups < 2 {
		to := s
		what := "a backup is made"
		if to.backups++; s.backups == 0 {
			to.backup = s.rows
		} else {
			to.rows, to.backup = s.backup, [maxWorkers]windowRow{}
			what = "the backup is restored"
		}
		emit(step{what: what, node: -1}, to)
	}
	for w := range s.rows[:m.workers] {
		if m.variant != deleteRows || s.rows[w].token == 0 {
			continue
		}
		for i := range s.nodes[:m.nodes] {
			if s.rows[w].until < s.nodes[i].now {
				to := s
				to.rows[w] = windowRow{}
				emit(step{"deletes the row of worker %d", i, int8(w), 0, 0}, to)
			}
		}
	}
}

// startSteps: a process starts (snowflake.Start), or its machine's clock is set back first.
func (m windowModel) startSteps(s windowState, i int, emit func(step, windowState)) {
	n := s.nodes[i]
	if s.starts == m.starts {
		return
	}
	for _, now := range []int8{n.now, 0} {
		to := s
		to.starts++
		to.nodes[i] = windowNode{phase: up, life: n.life + 1, now: max(1, now)}
		emit(step{"starts at %d", i, max(1, now), 0, 0}, to)
		if now <= 1 {
			break
		}
	}
}

// writeSteps: a node without a write under way ticks, claims (keeper.take), extends (keeper.extend), or closes (Node.Close).
func (m windowModel) writeSteps(s windowState, i int, emit func(step, windowState)) {
	n := s.nodes[i]
	if !n.leased {
		m.claims(s, i, emit)
		m.adoptions(s, i, emit)
	} else if until := m.extended(n); until != n.lease.until && s.writes < m.writes {
		to := s
		m.send(&to, i, windowWrite{kind: extend, worker: n.of, old: m.compared(n.lease), from: n.lease.until, until: until})
		emit(step{"asks to extend worker %d from %d to %d", i, n.of, n.lease.until, until}, to)
	}
	to := s
	to.nodes[i].phase = closed
	emit(step{what: "stops drawing", node: i}, to)
}

// length is a window's.
const length = 2

// extended is to where an extension moves the mark.
func (m windowModel) extended(n windowNode) int8 {
	if m.variant == moveBack {
		return min(m.end, n.now+length-1)
	}
	return max(n.lease.until, min(m.end, n.now+length))
}

// claims: keeper.freeWorkers and keeper.take. An id without a row counts as marked just before now.
func (m windowModel) claims(s windowState, i int, emit func(step, windowState)) {
	n := s.nodes[i]
	for w := range s.rows[:m.workers] {
		row := s.rows[w]
		if row.token == 0 {
			row.until = n.now - 1
		}
		if row.until >= n.now || s.writes == m.writes || n.windows[1].there {
			continue
		}
		to := s
		until := min(m.end, n.now+length)
		m.send(&to, i, windowWrite{kind: claim, worker: int8(w), old: m.compared(row), from: row.until, until: until})
		emit(step{"asks for worker %d from %d to %d", i, int8(w), row.until, until}, to)
	}
}

// adoptions: a variant's.
func (m windowModel) adoptions(s windowState, i int, emit func(step, windowState)) {
	n := s.nodes[i]
	for w, row := range s.rows[:m.workers] {
		if m.variant != adoptByOwner || row.owner != int8(i+1) || row.until < n.now || n.windows[1].there {
			continue
		}
		to := s
		to.nodes[i].lease, to.nodes[i].leased, to.nodes[i].of = row, true, int8(w)
		to.nodes[i].add(aWindow{true, int8(w), n.now - 1, row.until, n.now - 1})
		emit(step{"finds its name in the row of worker %d and takes it, up to %d", i, int8(w), row.until, 0}, to)
	}
}

// compared is what a write compares.
func (m windowModel) compared(row windowRow) int8 {
	if m.variant == compareMarks && row.token != 0 {
		return row.until
	}
	return row.token
}

// send sends a write, with a token that nobody ever used.
func (m windowModel) send(s *windowState, i int, w windowWrite) {
	s.writes++
	w.node, w.life, w.token = int8(i), s.nodes[i].life, s.writes
	s.nodes[i].write = w
}

// replySteps: a write under way is carried out, its reply comes, or the node gives it up: the request or the reply is lost, or
// the request is late.
func (m windowModel) replySteps(s windowState, i int, emit func(step, windowState)) {
	w := s.nodes[i].write
	if w.at == sent {
		to := s
		to.nodes[i].write.at = m.carryOut(&to, &w)
		emit(step{"'s write of worker %d is carried out", i, w.worker, 0, 0}, to)
		for slot := range s.late[:m.late] {
			if s.late[slot].kind == noWrite {
				to := s
				to.late[slot] = w
				sortLate(&to)
				m.giveUp(&to, i)
				emit(step{"gives its write of worker %d up, which is late", i, w.worker, 0, 0}, to)
				break
			}
		}
	}
	to := s
	m.giveUp(&to, i)
	emit(step{"gives its write of worker %d up, which is lost", i, w.worker, 0, 0}, to)
	if w.at != sent {
		to := s
		m.hear(&to, i)
		emit(step{"hears of its write of worker %d", i, w.worker, 0, 0}, to)
	}
}

// carryOut is the statement (sqlstore.Store.Swap).
func (m windowModel) carryOut(s *windowState, w *windowWrite) int8 {
	row := &s.rows[w.worker]
	if m.compared(*row) != w.old || row.token == 0 && w.kind != claim {
		return refused
	}
	if n := &s.nodes[w.node]; n.life == w.life && n.phase != down && w.kind != release {
		from := w.from // of a new row
		if row.token != 0 {
			from = row.until
		}
		for ts := from + 1; ts <= w.until; ts++ {
			n.granted[w.worker] |= 1 << ts
		}
	}
	*row = windowRow{token: w.token, until: w.until}
	if m.variant == adoptByOwner {
		row.owner = w.node + 1
	}
	return done
}

// giveUp is what a node does whose write got no answer: the lease is forgotten (keeper.lose), and the row is never touched
// again. A release is the end.
func (m windowModel) giveUp(s *windowState, i int) {
	n := &s.nodes[i]
	if n.write.kind == release && m.variant == compareMarks && s.writes < m.writes {
		again := n.write
		again.at = sent
		m.send(s, i, again)
		return
	}
	m.forget(s, i)
}

func (m windowModel) forget(s *windowState, i int) {
	n := &s.nodes[i]
	if n.write.kind == release {
		n.end()
		return
	}
	n.leased, n.lease, n.of = false, windowRow{}, 0
	n.write = windowWrite{}
}

// hear is the reply: keeper.take, keeper.extend, keeper.release.
func (m windowModel) hear(s *windowState, i int) {
	n := &s.nodes[i]
	w := n.write
	if w.at == refused || w.kind == release {
		m.forget(s, i)
		return
	}
	n.leased, n.of = true, w.worker
	before := n.lease.until
	n.lease = windowRow{token: w.token, until: w.until}
	n.write = windowWrite{}
	if w.kind == claim {
		n.add(aWindow{true, w.worker, w.from, w.until, w.from})
		return
	}
	for k := range n.windows { // generator.extend
		if g := &n.windows[k]; g.there && g.worker == w.worker && g.until == before {
			g.until = max(before, w.until)
			if m.variant == moveBack {
				n.lease.until = g.until
			}
		}
	}
}

func (n *windowNode) add(w aWindow) {
	if n.windows[0].there {
		n.windows[1] = w
	} else {
		n.windows[0] = w
	}
}

// end is that of a process. Its machine's clock stays.
func (n *windowNode) end() { *n = windowNode{life: n.life, now: n.now} }

// releaseSteps: keeper.release.
func (m windowModel) releaseSteps(s windowState, i int, emit func(step, windowState)) {
	n := s.nodes[i]
	to := s
	for _, g := range n.windows {
		if !n.leased || !g.there || g.worker != n.of || g.until != n.lease.until || g.used >= g.until || s.writes == m.writes {
			continue
		}
		until := g.used
		if m.variant == unusedToZero && g.used == g.from {
			until = 0
		}
		m.send(&to, i, windowWrite{kind: release, worker: n.of, old: m.compared(n.lease), from: g.until, until: until})
		emit(step{"releases worker %d to %d", i, n.of, until, 0}, to)
		return
	}
	to.nodes[i].end()
	emit(step{what: "ends", node: i}, to)
}

// ahead is by how much ids may run ahead of the clock.
const ahead = 1

// drawSteps: the clock goes on, or a millisecond is issued (generator.advance).
func (m windowModel) drawSteps(s windowState, i int, emit func(step, windowState)) {
	n := s.nodes[i]
	if n.now < m.end {
		to := s
		to.nodes[i].now++
		emit(step{"'s clock says %d", i, n.now + 1, 0, 0}, to)
	}
	if n.phase == closed && (m.variant != releaseWhileServing || n.write.kind != release) {
		return
	}
	k, ts := n.holder()
	if k < 0 {
		return
	}
	to := s
	g := &to.nodes[i].windows[k]
	g.used = ts
	to.nodes[i].ts, to.nodes[i].worker = ts, g.worker
	to.issue(i, g.worker, ts, m.variant)
	emit(step{"issues millisecond %d of worker %d", i, ts, g.worker, 0}, to)
}

// holder is generator.advance: the window that the next id comes from, and its millisecond.
func (n *windowNode) holder() (window int, ts int8) {
	first := max(n.now, n.ts)
	for ts := first; ts <= n.now+ahead; ts++ {
		best := -1
		for k, g := range n.windows {
			above := ts > n.ts || g.worker > n.worker
			if g.there && above && g.from < ts && ts <= g.until && (best < 0 || g.worker < n.windows[best].worker) {
				best = k
			}
		}
		if best >= 0 {
			return best, ts
		}
	}
	return -1, 0
}

func (s *windowState) issue(i int, worker, ts int8, v windowVariant) {
	bit := uint16(1) << ts
	switch {
	case s.issued[worker]&bit != 0:
		s.broken = twice
	case s.nodes[i].granted[worker]&bit == 0 && v == windowsSound:
		s.broken = outside
	}
	s.issued[worker] |= bit
}

// crash ends a process. A write that it sent may be lost, or late.
func (m windowModel) crash(s windowState, i int, emit func(step, windowState)) {
	w := s.nodes[i].write
	to := s
	to.nodes[i].end()
	emit(step{what: "crashes", node: i}, to)
	if w.kind == noWrite || w.at != sent {
		return
	}
	for slot := range s.late[:m.late] {
		if s.late[slot].kind == noWrite {
			to.late[slot] = w
			sortLate(&to)
			emit(step{"crashes; its write of worker %d is late", i, w.worker, 0, 0}, to)
			return
		}
	}
}

// sortLate makes states equal that differ in no more than an order that has no meaning.
func sortLate(s *windowState) {
	slices.SortFunc(s.late[:], func(a, b windowWrite) int {
		return cmp.Or(-cmp.Compare(a.kind, b.kind), cmp.Compare(a.token, b.token))
	})
}
