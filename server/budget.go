package server

import "sync/atomic"

// budget bounds the bytes that all clients together hold beyond their ordinary buffers.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take reserves n bytes, or says that they are not to be had.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *budget) give(n int64) { b.used.Add(-n) }
