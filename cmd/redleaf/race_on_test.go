//go:build race

package main

// raceEnabled says that the tests run with the race detector, and so must the program under test.
const raceEnabled = true
