//go:build !linux

package bench

import "time"

// An alarm wakes a goroutine at a time.
type alarm struct{}

func newAlarm() (*alarm, error) { return new(alarm), nil }

func (*alarm) wait(d time.Duration) error {
	time.Sleep(d)
	return nil
}

func (*alarm) close() {}
