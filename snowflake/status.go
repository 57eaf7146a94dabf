package snowflake

import "time"

// Status is the node's live state.
type Status struct {
	Workers   []WorkerStatus // windows owned, by rising worker id
	Skew      time.Duration  // this node's time less the database's, when last compared
	Issued    int64          // ids drawn since the start
	Claims    int64          // worker ids claimed since the start
	Extends   int64          // extensions that succeeded
	Lost      int64          // windows given up: an extension failed or its reply was lost
	StepsBack int64          // times that the wall clock was seen to step back
	Skewed    int64          // times that this machine's clock and the database's were found too far apart
	Err       error          // why the last claim or extension failed; nil after a success
}

// WorkerStatus is a worker window owned by the node.
type WorkerStatus struct {
	ID    int
	Until time.Time // its last millisecond, UTC
}

// Status returns the node's live state.
func (n *Node) Status() Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	now, _ := n.time.now()
	s := Status{
		Skew: n.time.skew(), Issued: n.issued, StepsBack: n.time.stepsBack,
		Claims: n.state.claims, Extends: n.state.extends, Lost: n.state.lost, Skewed: n.state.skewed, Err: n.state.err,
	}
	for _, w := range n.gen.windows {
		if w.until >= now {
			s.Workers = append(s.Workers, WorkerStatus{ID: w.worker, Until: time.UnixMilli(w.until).UTC()})
		}
	}
	return s
}
