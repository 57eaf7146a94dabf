//go:build !linux

package bench

import "time"

// maxPause is the longest time in which nothing looks whether the run is over.
const maxPause = 50 * time.Millisecond

func pause(d time.Duration) { time.Sleep(d) }
