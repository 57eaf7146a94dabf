// Package bench loads servers that give out ids and measures them: ids per second, latency, and the server's CPU time
// per id. It can keep every id to find duplicates.
//
// A Load says what is sent and where to; Run sends it and returns a Result; Compare interleaves short runs of two loads,
// so that what disturbs the machine disturbs both. Each connection has a goroutine that sends a batch of requests in one
// write and waits for all their replies, as redis-benchmark -P does.
//
// The package shares no code with redleaf's server: a mistake about the protocol must not cancel itself out.
package bench
