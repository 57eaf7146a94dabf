// Package clienttest holds one small program per Redis client library, and the test that runs them all against a real
// server: `make test-clients`. The programs and what they print are described in README.md.
package clienttest
