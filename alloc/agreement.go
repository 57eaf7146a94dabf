package alloc

import "time"

const (
	// recent is how long after its last heartbeat a node is waited for, and counts for the gap.
	recent = time.Hour
	// stubborn is how many times longer than for a silent node an agreement waits for one that lives but has not
	// raised the rows.
	stubborn = 4
)

// move is what a node does next about the server that answers.
type move int

const (
	moveServe  move = iota // nothing: this is the server agreed on
	moveFirst              // record the server: there is no record, and nothing to compare it with
	moveBegin              // begin an agreement
	moveRaise              // raise the rows to what this node knows
	moveAwait              // wait for the other nodes
	moveSkip               // end the agreement with the gap
	moveAdopt              // go on with the server: the agreement has ended
	moveTrust              // record that any server is trusted
	moveHalt               // lease nothing until somebody runs the recovery
	moveOrphan             // a start: nobody who knows the old server is there to begin an agreement
)

// knowledge is what a node has seen of agreements.
type knowledge struct {
	server  string    // the server agreed on; "" before the first agreement, as at a start
	agreed  agreement // by which agreement
	raised  agreement // the last for which this node raised the rows
	suspect bool      // the server granted what it had granted before
}

// protocol holds the settings that decide.
type protocol struct {
	policy Policy
	wait   time.Duration // how long silent nodes are waited for
}

// next decides, from what this node knows and what the server shows.
func (p protocol) next(k knowledge, v View) move {
	r := v.Record
	starting, raised := k.server == "", k.raised == r.agreement()
	switch here := r.on(v.Server); {
	case r == Record{} && starting:
		return moveFirst
	case here && r.Open:
		return p.take(v, starting, raised)
	case p.policy == PolicyTrust && starting:
		if r.Server == v.Server {
			return moveAdopt
		}
		return moveTrust
	case p.policy == PolicyTrust:
		return moveServe
	case here && starting && r.Server == AnyServer:
		return moveFirst
	case here && starting:
		return moveAdopt
	case here && k.agreed == r.agreement() && k.server == v.Server && !k.suspect:
		return moveServe
	case here && k.agreed != r.agreement() && raised:
		return moveAdopt
	case here && r.Term > k.agreed.term:
		return moveRaise // late: the others have gone on
	case starting:
		return moveOrphan
	case p.policy == PolicyGap:
		return moveBegin
	}
	return moveHalt
}

// take is a node's part in an open agreement. One that is starting knows nothing to raise the rows to.
func (p protocol) take(v View, starting, raised bool) move {
	switch {
	case starting:
		return moveAwait
	case !raised:
		return moveRaise
	case p.ready(v):
		return moveSkip
	}
	return moveAwait
}

// ready reports whether the open agreement may end: every node of the last hour has raised the rows, or has been silent
// for the time allowed. A third of that time passes in any case: nodes that registered in the lost tail are not known.
func (p protocol) ready(v View) bool {
	r := v.Record
	lasted := time.Duration(v.Now-r.Began) * time.Millisecond
	if lasted < p.wait/3 {
		return false
	}
	for _, n := range v.Nodes {
		if !counts(n, r) || n.raised(r) {
			continue
		}
		lives := n.Seen >= r.Began && v.Now-n.Seen <= NodeTimeout.Milliseconds()
		if lasted < p.wait || lives && lasted < stubborn*p.wait {
			return false
		}
	}
	return true
}

// counts reports whether the node may have leased in the tail that the agreement r is about.
func counts(n Member, r Record) bool { return n.Seen >= r.Began-recent.Milliseconds() }

func (n Member) raised(r Record) bool { return n.Term == r.Term && n.Server == r.Server }

// gapOf returns by how much an agreement moves the numbers up.
func gapOf(v View, own, maxStep int64) int64 {
	gap := v.Record.Gap
	if gap == 0 {
		gap = own
	}
	if gap == 0 {
		nodes := int64(0)
		for _, n := range v.Nodes {
			if counts(n, v.Record) {
				nodes++
			}
		}
		gap = 2 * maxStep * max(1, nodes)
	}
	return max(0, gap)
}

// clockDoubt is by how much the old server's clock may have been ahead of the new one's.
const clockDoubt = 10 * time.Second

// spokenOf returns up to when worker rows count as spoken for that no live node holds. window is this node's longest.
// Where the operator says that nothing was lost, the rows tell the truth.
func spokenOf(v View, window time.Duration) int64 {
	if v.Record.Gap == NoGap {
		return v.Record.Spoken
	}
	longest := window.Milliseconds()
	for _, n := range v.Nodes {
		longest = max(longest, n.Window)
	}
	return max(v.Record.Spoken, v.Now+longest+clockDoubt.Milliseconds())
}

// holdersOf returns the nodes that have raised the rows: what their worker rows say is true.
func holdersOf(v View) (ids []string) {
	for _, n := range v.Nodes {
		if n.raised(v.Record) {
			ids = append(ids, n.ID)
		}
	}
	return ids
}
