//go:build !clockoffset

package snowflake

// wallOffset is how far the wall clock is off: in programs that are not the fault bench's, nothing sets it off.
type wallOffset struct{}

func newWallOffset() wallOffset { return wallOffset{} }

func (wallOffset) ms() int64 { return 0 }
