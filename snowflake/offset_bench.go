//go:build clockoffset

package snowflake

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// wallOffset is how far the wall clock is off: the milliseconds in the file that REDLEAF_CLOCK_OFFSET_FILE names. It is
// compiled only into the programs of the fault bench.
type wallOffset struct{ value *atomic.Int64 }

func newWallOffset() wallOffset {
	w := wallOffset{new(atomic.Int64)}
	w.read()
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			w.read()
		}
	}()
	return w
}

func (w wallOffset) read() {
	text, _ := os.ReadFile(os.Getenv("REDLEAF_CLOCK_OFFSET_FILE")) // without a file nothing changes
	if ms, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
		w.value.Store(ms)
	}
}

func (w wallOffset) ms() int64 { return w.value.Load() }
