package snowflake

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DefaultEpoch is Leaf's and Twitter's: 2010-11-04 01:42:54.657 UTC, in Unix milliseconds.
const DefaultEpoch = 1288834974657

// Layout says how an id is put together: timestamp, worker, sequence, from the highest bit down. It is a value,
// comparable, and immutable once in use.
type Layout struct {
	Epoch        int64 // Unix milliseconds of timestamp 0
	TimeBits     int
	WorkerBits   int
	SequenceBits int
}

// DefaultLayout is Leaf's: 41 bits of milliseconds, 10 of worker, 12 of sequence.
func DefaultLayout() Layout {
	return Layout{Epoch: DefaultEpoch, TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
}

// ParseBits reads "41,10,12" (time, worker, sequence), or the preset "js53", whose ids JavaScript's numbers hold
// exactly (below 2^53): "41,5,7". The three add up to at most 63, with at least 1 bit of time and of sequence.
func ParseBits(s string, epoch int64) (Layout, error) {
	if s == "js53" {
		s = "41,5,7"
	}
	parts := strings.Split(s, ",")
	if len(parts) != 3 {
		return Layout{}, fmt.Errorf("bits %q: want three numbers, time,worker,sequence, or js53", s)
	}
	var bits [3]int
	for i, p := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil {
			return Layout{}, fmt.Errorf("bits %q: %q is not a number", s, p)
		}
		bits[i] = n
	}
	l := Layout{Epoch: epoch, TimeBits: bits[0], WorkerBits: bits[1], SequenceBits: bits[2]}
	return l, l.Check()
}

// Check reports what is wrong with the layout, if anything.
func (l Layout) Check() error {
	switch {
	case l.TimeBits < 1 || l.SequenceBits < 1 || l.WorkerBits < 0:
		return fmt.Errorf("bits %s: time and sequence need at least 1 bit each", l.Bits())
	case l.TimeBits > 62 || l.WorkerBits > 20 || l.SequenceBits > 30:
		return fmt.Errorf("bits %s: at most 62 of time, 20 of worker, 30 of sequence", l.Bits())
	case l.TimeBits+l.WorkerBits+l.SequenceBits > 63:
		return fmt.Errorf("bits %s: add up to more than 63", l.Bits())
	case l.Epoch < 0 || l.Epoch > 1<<53:
		return fmt.Errorf("epoch %d: want Unix milliseconds, 0 or more", l.Epoch)
	}
	return nil
}

// Bits returns the widths as ParseBits reads them.
func (l Layout) Bits() string {
	return fmt.Sprintf("%d,%d,%d", l.TimeBits, l.WorkerBits, l.SequenceBits)
}

// MaxWorker is the largest worker id.
func (l Layout) MaxWorker() int { return 1<<l.WorkerBits - 1 }

// MaxSequence is the largest sequence number.
func (l Layout) MaxSequence() int64 { return 1<<l.SequenceBits - 1 }

// MaxTime is the last timestamp that can be issued, in Unix milliseconds.
func (l Layout) MaxTime() int64 { return l.Epoch + 1<<l.TimeBits - 1 }

// JavaScriptSafe reports whether every id is exactly representable as a double (at most 53 bits).
func (l Layout) JavaScriptSafe() bool { return l.TimeBits+l.WorkerBits+l.SequenceBits <= 53 }

// ID puts an id together. unixMs must lie in [Epoch, MaxTime], the others in their ranges.
func (l Layout) ID(unixMs int64, worker int, sequence int64) int64 {
	return (unixMs-l.Epoch)<<(l.WorkerBits+l.SequenceBits) | int64(worker)<<l.SequenceBits | sequence
}

// Parts are what an id is made of.
type Parts struct {
	Time     time.Time // UTC, whole milliseconds
	Worker   int
	Sequence int64
}

// Decode takes an id apart. It fails for an id that the layout cannot have made.
func (l Layout) Decode(id int64) (Parts, error) {
	if total := l.TimeBits + l.WorkerBits + l.SequenceBits; id < 0 || total < 63 && id>>total != 0 {
		return Parts{}, fmt.Errorf("id %d does not fit the layout %s", id, l.Bits())
	}
	ms := id>>(l.WorkerBits+l.SequenceBits) + l.Epoch
	return Parts{
		Time:     time.UnixMilli(ms).UTC(),
		Worker:   int(id>>l.SequenceBits) & l.MaxWorker(),
		Sequence: id & l.MaxSequence(),
	}, nil
}
