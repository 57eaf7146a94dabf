package snowflake

import (
	"context"
	"errors"
)

// Errors of stores and of the node, wrapped with what was being done. Match them with errors.Is.
var (
	// ErrSwapped: a compare-and-set found another token: the row is not (or no longer) the caller's. Nothing changed.
	ErrSwapped = errors.New("worker row was changed by somebody else")
	// ErrLayout: the store was started with another bit layout or epoch.
	ErrLayout = errors.New("snowflake layout differs from the store's")
	// ErrSkew: this machine's clock and the database's are too far apart.
	ErrSkew = errors.New("clock differs from the database's")
	// ErrNoWorker: every worker id that this node may claim is taken.
	ErrNoWorker = errors.New("no free worker id")
	// ErrUnavailable: no window is owned for the present time; it may pass.
	ErrUnavailable = errors.New("no worker window")
	// ErrExhausted: the clock is past the last timestamp that the layout can represent, or before its epoch.
	ErrExhausted = errors.New("timestamp does not fit the layout")
	// ErrClosed: the node is stopping and issues nothing more.
	ErrClosed = errors.New("snowflake node is closed")
)

// Worker is a row of leaf_worker. Every timestamp up to and including Until is spoken for.
type Worker struct {
	ID    int
	Token int64  // random, never 0; changes with every write
	Owner string // node id of the last writer, for people
	Addr  string // its address, for people
	Until int64  // Unix milliseconds
}

// Windows keeps the rows of leaf_worker and the layout. Every method is safe for concurrent use by many goroutines and
// processes and honours ctx's deadline. A nil error means that the effect is durable; an error that is not one of the
// sentinels named means that the outcome is unknown: the write may have happened, or may happen later.
type Windows interface {
	// RecordLayout records the layout if none is recorded yet; else it compares. ErrLayout: they differ (the error
	// names both).
	RecordLayout(ctx context.Context, l Layout) error

	// Now returns the database's clock in Unix milliseconds. A store whose clock is this machine's own returns one
	// that never steps back while the process lives.
	Now(ctx context.Context) (int64, error)

	// Workers returns the rows with ids from lo to hi, inclusive, by rising id. Worker ids nobody claimed yet have no
	// row.
	Workers(ctx context.Context, lo, hi int) ([]Worker, error)

	// Swap writes w if the row w.ID still has the token old, or, for old 0, if there is no such row, in one atomic
	// statement. It is sent once and never retried, not even by a driver. ErrSwapped: it has not. Rows are never
	// deleted.
	Swap(ctx context.Context, old int64, w Worker) error
}
