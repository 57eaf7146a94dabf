package alloc

import (
	"context"
	"time"
)

// MaxStep is the largest step a row can hold: Leaf's column is a signed 32-bit integer.
const MaxStep = 1<<31 - 1

// Range is a lease of the integers First to End-1 of one tag.
type Range struct {
	First, End int64
}

// Len returns how many integers the range holds.
func (r Range) Len() int64 { return r.End - r.First }

// Row is a tag's row as the store has it (Leaf's leaf_alloc).
type Row struct {
	Tag         string
	MaxID       int64 // the first integer that nobody has leased; 1 in a fresh row
	Step        int64 // Leaf's step: how many ids a segment has at least
	Description string
	Updated     time.Time // when the store last changed the row
}

// Settings are what an operator may change of a tag; nil leaves a value as it is.
type Settings struct {
	Step        *int64 // 1 to MaxStep
	Description *string
}

// Store keeps the tags' rows. Every method is safe for concurrent use by many goroutines, and by many processes on
// the same data. Every method honours ctx's deadline. A nil error means that the effect is durable; any error that is
// not one of the sentinels named means that the outcome is unknown: the statement may have happened, or may happen
// later. Tags are compared byte for byte.
type Store interface {
	// Lease moves the tag's max_id forward by n (n >= 1) in one atomic statement and returns [max_id-n, max_id).
	// The row's step plays no part. ErrNoTag: there is no row. ErrExhausted: max_id+n does not fit 63 bits.
	Lease(ctx context.Context, tag string, n int64) (Range, error)

	// Lookup returns the tag's row. ErrNoTag: there is none. ErrCollation: only a row of an equal, not identical,
	// name under the table's collation, or a name that the table's character set cannot hold.
	Lookup(ctx context.Context, tag string) (Row, error)

	// List returns up to limit rows whose tags sort after the given one ("" for the first), rising in one order that
	// the store keeps from call to call; paging with the last tag of each call meets each tag once.
	List(ctx context.Context, after string, limit int) ([]Row, error)

	// Count returns the number of tags.
	Count(ctx context.Context) (int64, error)

	// Create makes the tag with the given step unless it exists, which is no error. It starts at 1, or where a
	// deleted tag of this name ended. ErrTooManyTags: there are maxTags tags or more (0: no bound; the bound is
	// approximate under concurrent creation). ErrCollation as in Lookup.
	Create(ctx context.Context, tag string, step, maxTags int64) error

	// Advance moves max_id up to the given value, creating the tag with the given step if it is missing, in one
	// atomic statement. *FloorError: the row, or the mark a deleted tag left, is already above; nothing was changed.
	// A value equal to the row's succeeds. ErrCollation as in Lookup.
	Advance(ctx context.Context, tag string, maxID, step int64) error

	// Configure changes the tag's settings. ErrNoTag: there is no row. ErrBadDescription: the table can't hold it.
	Configure(ctx context.Context, tag string, s Settings) error

	// Retire deletes the tag and remembers its max_id, in one transaction that locks the row before it reads it, so
	// that the tag, made again under this name, goes on above. ErrNoTag: there is no row.
	Retire(ctx context.Context, tag string) error

	// GiveBack lowers max_id from end to next if it still is end, and reports whether it did. It is sent once and
	// never retried, not even by a driver; the caller has stopped issuing from [next, end) before calling.
	GiveBack(ctx context.Context, tag string, end, next int64) (bool, error)
}
