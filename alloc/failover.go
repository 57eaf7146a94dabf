package alloc

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Policy says what nodes do when they find another database server than the one they agreed on: its data may lack
// writes that the old one acknowledged.
type Policy int

const (
	// PolicyGap: live nodes raise the rows to what they know, and then all numbers skip a gap.
	PolicyGap Policy = iota
	// PolicyTrust: the new server has every acknowledged write.
	PolicyTrust
	// PolicyStop: nothing is leased until somebody runs the recovery.
	PolicyStop
)

// ParsePolicy reads gap, trust or stop.
func ParsePolicy(s string) (Policy, error) {
	switch s {
	case "gap":
		return PolicyGap, nil
	case "trust":
		return PolicyTrust, nil
	case "stop":
		return PolicyStop, nil
	}
	return 0, fmt.Errorf("%q: want gap, trust or stop", s)
}

var (
	// ErrAgreeing: the database server has changed, or lost writes, and the nodes have not agreed yet how to go on.
	// Nothing is leased until then.
	ErrAgreeing = errors.New("the nodes are agreeing on the database's state")
	// ErrStopped: as ErrAgreeing, and it does not end by itself.
	ErrStopped = errors.New("stopped after a failover of the database")
	// ErrRecordChanged: somebody else changed the record, or another server answers. Nothing was done.
	ErrRecordChanged = errors.New("the failover record or the server changed meanwhile")
)

// Record is what the store remembers of the server that the nodes have agreed on, or are agreeing on. The zero Record
// stands for none.
type Record struct {
	Server string `json:"server"`
	Term   int64  `json:"term"`             // counts agreements
	Open   bool   `json:"open,omitempty"`   // the agreement goes on
	Began  int64  `json:"began,omitempty"`  // when it began: Unix milliseconds of the database's clock
	Gap    int64  `json:"gap,omitempty"`    // the gap asked for; 0: by rule, NoGap: none
	Spoken int64  `json:"spoken,omitempty"` // worker ids without a row are spoken for up to this Unix millisecond
}

// NoGap asks for no gap where 0 asks for the rule's. In a Record it says that nothing was lost: worker ids are then not
// spoken for beyond their rows either.
const NoGap = -1

// AnyServer is the identity of every server to nodes that trust all of them.
const AnyServer = "any"

// on reports whether the record speaks of the server.
func (r Record) on(server string) bool {
	return r.Server == server || r.Server == AnyServer || server == AnyServer
}

// agreement identifies an agreement: the term alone may repeat on a server that lost its record.
type agreement struct {
	server string
	term   int64
	began  int64
}

func (r Record) agreement() agreement { return agreement{r.Server, r.Term, r.Began} }

// View is what a server shows of the agreement, read over one connection.
type View struct {
	Server string // the identity of the server that answered
	Now    int64  // its clock, Unix milliseconds
	Record Record
	Nodes  []Member // those seen in the last day, if they were read
}

// Member is a node's part in an agreement.
type Member struct {
	ID     string
	Seen   int64 // last heartbeat, Unix milliseconds of the database's clock
	Term   int64 // the last agreement for which it raised the rows
	Server string
	Window int64 // milliseconds: the longest worker window that it writes
}

// Failovers is the part of a store that nodes agree through. Its methods work on whatever server answers, whether or
// not the nodes have agreed on it. Those that take a server change nothing, with ErrRecordChanged, on any other.
type Failovers interface {
	// View reads the server's identity, the record and, while the agreement is open or if they are asked for, the nodes.
	View(ctx context.Context, nodes bool) (View, error)

	// PutRecord replaces the record old of old's server or, when old is zero, the missing one of record's server.
	// ErrRecordChanged: there is another.
	PutRecord(ctx context.Context, server string, old, record Record) error

	// Announce records that the node lives and that it has raised the rows for the record's agreement.
	Announce(ctx context.Context, server string, n Node, r Record, window time.Duration) error

	// Skip ends an agreement, on the server named, in one transaction: it replaces the record, moves the numbers of all tags, and those at
	// which new ones begin, up by the gap, and has every worker row whose owner is not among the holders, or whose
	// mark lies before the agreement's begin, spoken for up to done.Spoken.
	Skip(ctx context.Context, server string, open, done Record, gap int64, holders []string) error
}

// Mark is what a node knows of a tag: no integer below End may be leased by anybody.
type Mark struct {
	Tag  string
	End  int64
	Step int64 // of the row, should it have to be made again
	Gone bool  // the tag was deleted
}

// Raiser raises a store's rows to what a node knows.
type Raiser interface {
	// RaiseTags moves the tags' rows up to their marks, making rows that were lost again; of deleted tags it moves
	// what remembers them.
	RaiseTags(ctx context.Context, server string, marks []Mark) error
}
