package model

// A strictModel is the protocol of a strict tag: who may draw, when. Time is a few ticks that are the same for all, since only
// their clocks' speed matters; a node that takes no step while time goes on is one that is paused. A request is sent just before
// an id is drawn for it, and the reply comes at once: that is the worst case, since a node asks its clock after it has read the
// request. So each id must be above all that were drawn before, anywhere. At first A holds the tag, and some ids.
type strictModel struct {
	nodes  int
	end    int8 // the last tick; the first is 1
	ids    int8 // the last id
	writes int8 // in all
	starts int8 // of processes, in all
	late   int  // 1: one statement may be carried out after its node has given up
	renews bool // nodes make their leases longer
	leaves bool // nodes leave the tag to others

	variant strictVariant
}

// A strictVariant is a protocol that must not be built.
type strictVariant int

const (
	strictSound    strictVariant = iota
	takeAtOnce                   // another node takes the tag without waiting for the lease to end
	countFromReply               // the lease counts from when the reply came
	askNoClock                   // a node draws as long as it has not heard that it may not
	keepIDs                      // a node that takes the tag again draws from what it had
	leaveByName                  // the tag is left to others by a statement that asks for the holder's name alone
	renewUnseen                  // a renewal counts without a look at the row, even when the lease has ended
)

// strictLease is for how many ticks a node may draw, and another waits.
const strictLease = 2

// What a call to the store is for.
const (
	noCall    int8 = iota
	look           // reads the row
	take           // holds the tag, if the row is as it was read
	leaseIDs       // leases ids
	handBack       // gives ids back
	leave          // holds the tag no more, if the row is as it was read
	renewHold      // by the goroutine that renews, beside the others: writes the row, then reads it
)

// looked is where a renewHold is that has also read the row; see also sent, done and refused.
const looked int8 = 10

// strictCall is a statement under way. What it reads takes the place of what it was told.
type strictCall struct {
	kind, at   int8
	process    int8
	age        int8 // ticks since it was sent; strictLease is that or more
	beat       int8
	holder     int8
	first, end int8
}

type strictNode struct {
	process     int8 // names the process in the row: counted from 1
	holds       bool // the tag
	left        int8 // for how many ticks
	known       int8 // the beat when that was last made longer; 0: it never held the tag
	first, end  int8 // ids at hand
	seen, quiet int8 // the beat that was read last, and for how long it has been known; strictLease is that or more
	calls       [2]strictCall
}

type strictState struct {
	now             int8
	beat, holder    int8 // the row of leaf_strict
	next            int8 // max_id
	drawn           int8 // the highest id so far
	nodes           [maxNodes]strictNode
	late            strictCall
	writes, started int8
	broken          bool
}

func (m strictModel) system() system[strictState] {
	start := strictState{now: 1, beat: 1, holder: 1, next: 3}
	for i := range m.nodes {
		start.started++
		start.nodes[i] = strictNode{process: start.started}
	}
	start.nodes[0] = strictNode{process: 1, holds: true, left: strictLease, known: 1, first: 1, end: 3}
	return system[strictState]{start: start, next: m.next, broken: func(s strictState) string {
		if s.broken {
			return "an id below one that was drawn before"
		}
		return ""
	}}
}

func (m strictModel) next(s strictState, emit func(step, strictState)) {
	if s.now < m.end {
		emit(step{what: "time goes on", node: -1}, m.later(s))
	}
	if s.late.kind != noCall {
		to := s
		m.carryOut(&to, &to.late)
		to.late = strictCall{}
		emit(step{what: "a late statement is carried out", node: -1}, to)
	}
	for i := range m.nodes {
		m.draws(s, i, emit)
		m.sends(s, i, emit)
		m.under(s, i, emit)
		m.crashes(s, i, emit)
	}
}

// draws: a request comes, an id is drawn for it, the reply goes.
func (m strictModel) draws(s strictState, i int, emit func(step, strictState)) {
	n := &s.nodes[i]
	if n.first == n.end || !n.holds {
		return
	}
	s.broken = n.first <= s.drawn
	s.drawn = n.first
	n.first++
	emit(step{what: "draws %d", node: i, a: s.drawn}, s)
}

// later: a tick passes. What is of no consequence any more is forgotten, so that states which differ in nothing else are one.
func (m strictModel) later(s strictState) strictState {
	s.now++
	for i := range s.nodes {
		n := &s.nodes[i]
		n.quiet = min(n.quiet+1, strictLease)
		for k := range n.calls {
			if c := &n.calls[k]; c.kind == take || c.kind == renewHold {
				c.age = min(c.age+1, strictLease)
			}
		}
		if n.left = max(n.left-1, 0); n.left == 0 {
			m.lapse(n)
		}
	}
	return s
}

// lapse: tag.holds, when the lease has ended.
func (m strictModel) lapse(n *strictNode) {
	if m.variant == askNoClock {
		return
	}
	n.holds = false
	if m.variant != keepIDs && m.variant != renewUnseen {
		n.known, n.first, n.end = 0, 0, 0
	}
}

// carryOut: what the store does.
func (m strictModel) carryOut(s *strictState, c *strictCall) {
	if c.at == done { // a renewHold's second statement
		c.at, c.beat, c.holder = looked, s.beat, s.holder
		return
	}
	c.at = done
	switch c.kind {
	case look:
		c.beat, c.holder = s.beat, s.holder
	case take:
		m.swap(s, c, c.process)
	case leave:
		if m.variant == leaveByName && s.holder == c.process {
			c.beat = s.beat
		}
		m.swap(s, c, 0)
	case renewHold:
		if s.holder == c.process {
			s.beat++
		}
	case leaseIDs:
		if s.next > m.ids {
			c.at = refused
			return
		}
		c.first, c.end = s.next, min(s.next+2, m.ids+1)
		s.next = c.end
	case handBack:
		if s.next == c.end {
			s.next = c.first
		}
	}
}

// swap: Stricts.Hold.
func (m strictModel) swap(s *strictState, c *strictCall, holder int8) {
	if s.beat != c.beat {
		c.at = refused
		return
	}
	s.beat++
	s.holder = holder
}
