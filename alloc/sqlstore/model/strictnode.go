package model

// sends: the calls that a node may make. One at a time by the tag's loader, and one beside it that renews.
func (m strictModel) sends(s strictState, i int, emit func(step, strictState)) {
	n := &s.nodes[i]
	if s.writes >= m.writes {
		return
	}
	if m.renews && n.calls[1].kind == noCall && (n.holds || m.variant == renewUnseen && n.known > 0) {
		m.emitCall(s, i, 1, strictCall{kind: renewHold}, "renews its lease", emit)
	}
	if n.calls[0].kind != noCall {
		return
	}
	if !n.holds {
		m.emitCall(s, i, 0, strictCall{kind: look}, "looks who holds the tag", emit)
		return
	}
	if n.first == n.end {
		m.emitCall(s, i, 0, strictCall{kind: leaseIDs}, "leases ids", emit)
	}
	if !m.leaves {
		return
	}
	rest := strictCall{kind: handBack, first: n.first, end: n.end} // Allocator.Yield
	n.stepDown()
	m.emitCall(s, i, 0, rest, "leaves the tag, and gives its ids back", emit)
}

func (m strictModel) emitCall(s strictState, i, k int, c strictCall, what string, emit func(step, strictState)) {
	if c.kind != look {
		s.writes++
	}
	c.process = s.nodes[i].process
	s.nodes[i].calls[k] = c
	emit(step{what: what, node: i}, s)
}

// under: what becomes of the calls under way.
func (m strictModel) under(s strictState, i int, emit func(step, strictState)) {
	for k, c := range s.nodes[i].calls {
		if c.kind == noCall {
			continue
		}
		if c.at == sent || c.at == done && c.kind == renewHold {
			to := s
			m.carryOut(&to, &to.nodes[i].calls[k])
			emit(step{what: "'s statement is carried out", node: i}, to)
		} else {
			to := s
			to.nodes[i].calls[k] = strictCall{}
			m.answer(&to, i, k, c)
			emit(step{what: "'s call returns", node: i}, to)
		}
		m.lost(s, i, k, emit)
	}
}

// lost: the node gives up. What was not carried out yet may be later.
func (m strictModel) lost(s strictState, i, k int, emit func(step, strictState)) {
	c := s.nodes[i].calls[k]
	s.nodes[i].calls[k] = strictCall{}
	emit(step{what: "gives its call up", node: i}, s)
	if m.late > 0 && c.at == sent && c.kind != look && s.late.kind == noCall {
		s.late = c
		emit(step{what: "gives its call up, which is on its way", node: i}, s)
	}
}

// answer: what the node makes of a reply.
func (m strictModel) answer(s *strictState, i, k int, c strictCall) {
	n := &s.nodes[i]
	switch {
	case c.kind == look:
		m.looked(s, n, c)
	case c.kind == take && c.at == done:
		m.took(n, c)
	case c.kind == leaseIDs && c.at == done && n.holds:
		n.first, n.end = c.first, c.end
	case c.kind == handBack && s.holder == n.process && s.writes < m.writes: // holds.release reads the row, and then writes it
		s.writes++
		n.calls[k] = strictCall{kind: leave, process: n.process, beat: s.beat}
	case c.kind == renewHold:
		m.renewed(n, c)
	}
}

// looked: holds.take, up to its write.
func (m strictModel) looked(s *strictState, n *strictNode, c strictCall) {
	if n.seen != c.beat {
		n.seen, n.quiet = c.beat, 0
	}
	free := c.holder == 0 || c.holder == n.process || n.quiet >= strictLease || m.variant == takeAtOnce
	if free && s.writes < m.writes {
		s.writes++
		n.calls[0] = strictCall{kind: take, process: n.process, beat: c.beat}
	}
}

// took: tag.took.
func (m strictModel) took(n *strictNode, c strictCall) {
	if m.variant == countFromReply {
		c.age = 0
	}
	if m.variant != keepIDs {
		n.first, n.end = 0, 0
	}
	n.seen, n.quiet = 0, 0 // it does not matter while the tag is held
	n.extend(c.age, c.beat+1)
}

// extend: hold.extend.
func (n *strictNode) extend(age, beat int8) {
	n.left = max(n.left, strictLease-age)
	n.holds = n.left > 0
	if n.known = 0; n.holds {
		n.known = beat
	}
}

// renewed: tag.renewed.
func (m strictModel) renewed(n *strictNode, c strictCall) {
	switch {
	case m.variant == renewUnseen:
		if n.known > 0 {
			n.extend(c.age, n.known)
		}
	case !n.holds:
	case c.holder != n.process:
		n.stepDown()
	case c.beat > n.known:
		n.extend(c.age, c.beat)
	}
}

// stepDown: tag.stepDown.
func (n *strictNode) stepDown() {
	n.holds, n.left, n.known, n.first, n.end = false, 0, 0, 0, 0
}

// crashes: a process ends at any moment, and another starts in its place.
func (m strictModel) crashes(s strictState, i int, emit func(step, strictState)) {
	if s.started >= m.starts {
		return
	}
	s.started++
	s.nodes[i] = strictNode{process: s.started}
	emit(step{what: "crashes and starts again", node: i}, s)
}
