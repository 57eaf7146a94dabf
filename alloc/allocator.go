package alloc

import (
	"context"
	"log/slog"
	"time"
)

// Config configures an Allocator. Zero values mean the defaults named.
type Config struct {
	AutoCreate       bool          // an unknown tag is created by its first draw
	Step             int64         // step of a tag that Draw, Reserve or Set creates; 1000
	MaxStep          int64         // cap of the step rule; 1,000,000
	MaxTags          int64         // bound of automatic creation; 100,000
	MaxBatch         int64         // largest Draw or Reserve; 1,000,000
	Wait             time.Duration // how long a call may wait for a segment; 1 s
	SegmentDuration  time.Duration // how long a segment should last, target of the step rule; 15 min
	StatementTimeout time.Duration // deadline of one store call; 2 s
	Refresh          time.Duration // how often rows are read again; 60 s
	Logger           *slog.Logger  // nowhere
}

// Allocator hands out the ids of all tags of one store. Its methods are safe for concurrent use.
type Allocator struct{}

// New returns a running allocator; Close ends it.
func New(store Store, cfg Config) *Allocator { panic("to come") }

// Take draws up to n ids of the tag without waiting and returns the first and how many: they are consecutive.
// It returns 0 when none are at hand, for whatever reason; Draw then waits or says why. It does not allocate.
func (a *Allocator) Take(tag []byte, n int64) (first, got int64) { panic("to come") }

// Draw draws n ids (1 to MaxBatch) of the tag, rising, and passes them to emit in runs of consecutive ids. It waits
// for the store until ctx is done, and at most Config.Wait. After an error, ids already emitted must not be used.
func (a *Allocator) Draw(ctx context.Context, tag string, n int64, emit func(first, n int64)) error {
	panic("to come")
}

// Reserve draws n consecutive ids (1 to MaxBatch) and returns the first.
func (a *Allocator) Reserve(ctx context.Context, tag string, n int64) (first int64, err error) {
	panic("to come")
}

// Set makes the tag's next id on this node n+1, creating the tag if it is missing.
// *FloorError: n lies below what was leased.
func (a *Allocator) Set(ctx context.Context, tag string, n int64) error { panic("to come") }

// Configure changes the tag's settings in the store and here. ErrNoTag: there is no such tag.
func (a *Allocator) Configure(ctx context.Context, tag string, s Settings) error { panic("to come") }

// Delete retires the tag. ErrNoTag: there is no such tag.
func (a *Allocator) Delete(ctx context.Context, tag string) error { panic("to come") }

// Status returns the tag's row as this node last read it and the live state of its segments, reading the store when the
// tag is not in use here. It never creates a tag. ErrNoTag: there is no such tag.
func (a *Allocator) Status(ctx context.Context, tag string) (Status, error) { panic("to come") }

// Status is a tag's row and its live state on this node.
type Status struct {
	Row      Row
	Last     int64 // the last id issued here; 0 when none was
	Left     int64 // ids left in the current segment
	Next     int64 // ids ready behind it
	NextStep int64 // how many ids the next refill leases
	Refills  int64 // refills that succeeded, since the start
	Waits    int64 // calls that had to wait for a segment, since the start
	Err      error // why the last refill failed; nil after a success
}

// List and Count read the store: see Store.
func (a *Allocator) List(ctx context.Context, after string, limit int) ([]Row, error) {
	panic("to come")
}

func (a *Allocator) Count(ctx context.Context) (int64, error) { panic("to come") }

// Totals are sums over all tags since the start.
type Totals struct {
	Tags      int   // tags in use on this node
	Issued    int64 // ids drawn
	Refills   int64 // refills that succeeded
	Failures  int64 // store calls that failed
	Waits     int64 // calls that had to wait for a segment
	Backwards int64 // times that the store was seen to have gone backwards
}

func (a *Allocator) Totals() Totals { panic("to come") }

// Close stops drawing, waits for store calls under way, gives unused ids back as far as ctx allows, and returns how
// many were given back.
func (a *Allocator) Close(ctx context.Context) (givenBack int64, err error) { panic("to come") }
