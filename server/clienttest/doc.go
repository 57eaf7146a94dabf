// Package clienttest holds one small program per Redis client library, and the test that runs them all against a real
// server: `make test-clients`. README.md describes what they print.
package clienttest
