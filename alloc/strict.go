package alloc

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// StrictLease is for how long a node may draw from a strict tag after it wrote that it holds it. All nodes of a store
	// must have the same.
	StrictLease = 3 * time.Second
	// strictMargin is by how much longer another node waits than that: two clocks may differ in speed by a tenth.
	strictMargin = StrictLease / 10
	// MaxStrict bounds how many tags of a store may be strict: each node reads all of them once a second.
	MaxStrict = 1000
)

// StrictTag is what the store knows of a tag that is strict, or was (table leaf_strict). Its row is never deleted.
type StrictTag struct {
	Tag    string
	Strict bool   // one node at a time draws from it
	Change int64  // of Strict, the last: they are counted over all tags
	Beat   int64  // rises with every write of the row
	Holder int64  // who may draw; 0: nobody
	Addr   string // the holder's
	Term   int64  // of the nodes' agreement on the database server when the row was read; set by Gate
}

// same reports whether nobody wrote the row between two readings.
func (s StrictTag) same(t StrictTag) bool { return s.Beat == t.Beat && s.Term == t.Term }

// StrictNode is a node that has not confirmed a change.
type StrictNode struct {
	ID, Addr string
	Silent   time.Duration // since it was last heard of
}

// Stricts keeps what nodes tell each other about strict tags. What Store says of concurrency, contexts and errors holds
// here too. A Hold or RenewHolds that is carried out late, or twice, does no harm.
type Stricts interface {
	// MakeStrict says whether the tag is strict from now on and, if that is a change, lets nobody hold it. It returns the
	// number of the tag's last change: numbers rise in the order in which changes can be seen. ErrTooManyStrict.
	MakeStrict(ctx context.Context, tag string, strict bool) (change int64, err error)

	// StrictTags returns the rows of all tags that are strict or were.
	StrictTags(ctx context.Context) ([]StrictTag, error)

	// StrictTag returns one of them. ErrNoTag: the tag never was strict.
	StrictTag(ctx context.Context, tag string) (StrictTag, error)

	// Hold says who holds the tag from now on, 0 for nobody, and reports whether it did: only if nobody has written the
	// row since it was seen.
	Hold(ctx context.Context, seen StrictTag, holder int64, addr string) (bool, error)

	// RenewHolds raises the beats of all tags that the holder holds.
	RenewHolds(ctx context.Context, holder int64) error

	// Confirm records that the node acts on every change up to the given one.
	Confirm(ctx context.Context, node, addr string, change int64) error

	// Unconfirmed lists the nodes, of those heard of in the last day, that have not confirmed the change. A node of a
	// version that knows no strict tags never does.
	Unconfirmed(ctx context.Context, change int64) ([]StrictNode, error)

	// Withdraw removes what a node confirmed: it draws no more.
	Withdraw(ctx context.Context, node string) error
}

// ErrTooManyStrict: the store has MaxStrict strict tags.
var ErrTooManyStrict = fmt.Errorf("at most %d tags can be strict", MaxStrict)

var (
	errContested = errors.New("others wrote the strict tag's row meanwhile")
	errLapsed    = errors.New("the strict tag's lease ended meanwhile")
	errNotStrict = errors.New("strict tags are not served here")
)

// HeldError says that a strict tag is served by another node. It is an ErrUnavailable: it passes when that node stops, dies,
// or has not been asked for a while.
type HeldError struct {
	Tag  string
	Addr string // of that node
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("strict tag '%s' is served by %s", e.Tag, e.Addr)
}

func (e *HeldError) Unwrap() error { return ErrUnavailable }

// UnconfirmedError says which nodes keep a tag from being strict: they may still draw from what they hold.
type UnconfirmedError struct {
	Tag   string
	Nodes []StrictNode
}

func (e *UnconfirmedError) Error() string {
	n := e.Nodes[0]
	more := ""
	if len(e.Nodes) > 1 {
		more = fmt.Sprintf(", nor have %d more", len(e.Nodes)-1)
	}
	return fmt.Sprintf("tag '%s' is not strict yet: node %s at %s, last heard of %v ago, has not confirmed it%s; "+
		"if it has stopped for good, run redleaf nodes --forget %s; then say HSET again",
		e.Tag, n.ID, n.Addr, n.Silent.Round(time.Second), more, n.ID)
}

// hold is a node's right to draw from a strict tag: until two clocks say that it has ended, whichever is first. The one that
// never steps stands still while the machine sleeps; the other may be set.
type hold struct {
	until time.Time // with its monotonic reading; zero: there is no right
	wall  time.Time // without
	beat  int64     // of the row when the right was last made longer
	used  time.Time // when ids were last drawn
}

// extend makes the right last for a lease from when a statement was sent that the row shows.
func (h *hold) extend(sent time.Time, beat int64) {
	if until := sent.Add(StrictLease); until.After(h.until) {
		h.until, h.wall = until, until.Round(0)
	}
	h.beat = max(h.beat, beat)
}

func (h *hold) lasts(now time.Time) bool {
	return now.Before(h.until) && now.Round(0).Before(h.wall)
}
