// Package peers measures redleaf's allocator and generator beside id libraries of the same kind, in one process: what an
// id costs before any protocol. It is a module of its own, so that the libraries stay out of redleaf's.
//
//	go test -bench . -count 6 | go tool benchstat -row /lib -col /ids,/goroutines -
package peers
