// Package snowflake draws 64-bit time-ordered ids that no other node ever draws.
//
// An id is a millisecond, a worker id and a sequence number. Worker ids are leased together with time: a row of the store
// says up to which millisecond a worker id is spoken for, and a node owns the milliseconds by which it moved that mark.
// The whole proof that ids are unique is in two places: the generator issues no timestamp outside a window that it owns
// (generator.go), and a window comes only from a compare-and-set whose success was seen (keeper.go). Nothing rests on
// clocks that agree.
package snowflake
