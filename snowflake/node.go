package snowflake

import (
	"context"
	"log/slog"
	"time"
)

// Config configures a Node. Zero values mean the defaults named.
type Config struct {
	Layout           Layout        // DefaultLayout
	Workers          int           // worker ids to lease; 1
	MinWorker        int           // smallest worker id to claim
	MaxWorker        int           // largest; the layout's
	Fixed            bool          // claim MinWorker only and wait for it
	Window           time.Duration // length of a worker window; 10 min
	MaxSkew          time.Duration // 5 s
	Wait             time.Duration // how long a call may wait without getting an id; 1 s
	StatementTimeout time.Duration // deadline of one store call; 2 s
	Owner, Addr      string        // written to the rows, for people
	Clock            Clock         // SystemClock
	Logger           *slog.Logger  // nowhere
}

// Clock reads the wall clock in Unix milliseconds and a clock that never steps, from one instant.
type Clock func() (wallMs int64, mono time.Duration)

// Node draws ids from the worker windows that it leases and keeps extended. Its methods are safe for concurrent use.
type Node struct{}

// Start records or checks the layout, compares clocks, claims the worker ids and returns a running node; Close ends it.
func Start(ctx context.Context, w Windows, cfg Config) (*Node, error) { panic("to come") }

// Layout returns the node's layout.
func (n *Node) Layout() Layout { panic("to come") }

// Take draws up to max ids without waiting and returns the first and how many: they are consecutive. It returns 0 when
// none can be had now; Draw then waits or says why. It does not allocate.
func (n *Node) Take(max int64) (first, got int64) { panic("to come") }

// Draw draws count ids, rising, and passes them to emit in runs of consecutive ids. It waits for the clock until ctx is
// done, and at most Config.Wait without progress. After an error, ids already emitted must not be used.
func (n *Node) Draw(ctx context.Context, count int64, emit func(first, n int64)) error {
	panic("to come")
}

// Status is the node's live state.
type Status struct {
	Workers   []WorkerStatus // by rising id
	Skew      time.Duration  // this node's time less the database's, when last compared
	Issued    int64          // ids drawn since the start
	Claims    int64          // worker ids claimed since the start
	Extends   int64          // extensions that succeeded
	Lost      int64          // windows given up: an extension failed or its reply was lost
	StepsBack int64          // times that the wall clock was seen to step back
	Err       error          // why the last claim or extension failed; nil after a success
}

// WorkerStatus is a worker window owned by the node.
type WorkerStatus struct {
	ID    int
	Until int64 // Unix milliseconds, inclusive
}

func (n *Node) Status() Status { panic("to come") }

// Close stops drawing and releases the windows, as far as ctx allows.
func (n *Node) Close(ctx context.Context) error { panic("to come") }
