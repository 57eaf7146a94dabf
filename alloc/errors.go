package alloc

import (
	"errors"
	"fmt"
	"time"
)

// Errors that stores and the allocator return, wrapped with what was being done. Match them with errors.Is.
var (
	// ErrNoTag: the store has no row for the tag, and nothing allows creating one.
	ErrNoTag = errors.New("no such tag")
	// ErrTooManyTags: creating the tag would exceed the bound on tags.
	ErrTooManyTags = errors.New("too many tags")
	// ErrExhausted: the tag's next range would pass the largest signed 64-bit integer. Nothing was changed.
	ErrExhausted = errors.New("tag is at the end of its numbers")
	// ErrBadStep: a step below 1, in the tag's row or asked for, or one above MaxStep.
	ErrBadStep = errors.New("step must be 1 to 2147483647")
	// ErrBadDescription: a description that no row can hold.
	ErrBadDescription = errors.New("description must be at most 256 characters of UTF-8")
	// ErrBatch: a call asked for fewer than 1 or more than Config.MaxBatch ids.
	ErrBatch = errors.New("count is out of range")
	// ErrWentBackwards: the store granted ids that this node already got: it lost acknowledged writes. The tag stays
	// stopped on this node.
	ErrWentBackwards = errors.New("store went backwards")
	// ErrUnavailable: no ids within the caller's deadline, for a reason that may pass (store away, slow, or locked).
	ErrUnavailable = errors.New("no segment")
	// ErrClosed: the allocator is stopping and issues nothing more.
	ErrClosed = errors.New("allocator is closed")
	// ErrBadTag: the name is not a valid tag (see CheckTag).
	ErrBadTag = errors.New("invalid tag")
	// ErrCollation: the store has no row of exactly this name, but its collation or character set cannot keep the
	// name apart from another or cannot hold it. Errors that wrap it name the collation.
	ErrCollation = errors.New("tag does not fit the table's collation")
)

// UnavailableError says for which tag, how long, and why a call waited in vain. It is an ErrUnavailable.
type UnavailableError struct {
	Tag   string
	Wait  time.Duration // Config.Wait
	Cause error         // the last failure of the store, or that it has not answered
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("no segment for tag '%s' within %v: %v", e.Tag, e.Wait, e.Cause)
}

func (e *UnavailableError) Unwrap() []error { return []error{ErrUnavailable, e.Cause} }

// FloorError reports a SET below what the tag has already leased or, for a deleted tag, had leased before.
type FloorError struct {
	Tag   string
	Floor int64 // the smallest value that SET accepts
}

func (e *FloorError) Error() string {
	return fmt.Sprintf("tag '%s' is already at %d: ids only move forward", e.Tag, e.Floor)
}
