package bench

import (
	"syscall"
	"time"
)

// maxPause is the longest time in which nothing looks whether the run is over.
const maxPause = 50 * time.Millisecond

// pause sleeps in the kernel: Go's own timers wake an idle program up to a millisecond late, which would count as latency.
func pause(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // a signal ends it early: the caller looks at the clock again
}
