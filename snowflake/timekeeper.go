package snowflake

import "time"

// stepTolerance is by how much the wall clock may fall behind between two readings before that counts as a step back
// and not as slewing, beside a thousandth of the time that passed.
const stepTolerance = 100 * time.Millisecond

// Clock reads the wall clock, in Unix milliseconds, and a clock that never steps, at one instant.
type Clock func() (wallMs int64, mono time.Duration)

// systemClocks returns this machine's clocks, and the one that never steps by itself: reading it alone costs half.
func systemClocks() (Clock, func() time.Duration) {
	start, offset := time.Now(), newWallOffset()
	both := func() (int64, time.Duration) {
		now := time.Now()
		return now.UnixMilli() + offset.ms(), now.Sub(start)
	}
	return both, func() time.Duration { return time.Since(start) }
}

// wallEvery is how often, at most, the wall clock is read: it only ever moves the node's time forward, and steps back are
// told a millisecond later.
const wallEvery = time.Millisecond

// timekeeper keeps the node's time: the wall clock's time at the start, carried by the monotonic clock, and moved
// forward when the wall clock is ahead, but never further than maxSkew past the database's clock. It never moves
// back. It is not safe for concurrent use.
type timekeeper struct {
	clock   Clock
	mono    func() time.Duration // clock's second value alone; nil: clock is always read whole
	maxSkew time.Duration

	offset   time.Duration // node time less mono
	database time.Duration // the database's time less mono, as last read
	anchored bool          // database is known

	lag       time.Duration // node time less wall time at the last reading
	readAt    time.Duration // mono of that reading
	stepsBack int64
}

func newTimekeeper(clock Clock, maxSkew time.Duration) *timekeeper {
	wall, mono := clock()
	return &timekeeper{clock: clock, maxSkew: maxSkew, offset: sinceEpoch(wall) - mono, readAt: mono}
}

func sinceEpoch(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// now returns the node's time in Unix milliseconds, and by how much the wall clock was found to have stepped back since
// the last call; 0 if it has not.
func (k *timekeeper) now() (ms int64, steppedBack time.Duration) {
	if k.mono != nil {
		if mono := k.mono(); mono-k.readAt < wallEvery {
			return (mono + k.offset).Milliseconds(), 0
		}
	}
	wall, mono := k.clock()
	ahead := sinceEpoch(wall) - mono
	if k.anchored {
		ahead = min(ahead, k.database+k.maxSkew)
	}
	k.offset = max(k.offset, ahead)
	node := mono + k.offset

	lag := node - sinceEpoch(wall)
	if d := lag - k.lag; d > stepTolerance+(mono-k.readAt)/1000 {
		k.stepsBack++
		steppedBack = d
	}
	k.lag, k.readAt = lag, mono
	return node.Milliseconds(), steppedBack
}

// anchor notes the database's time, in Unix milliseconds, read between now and the mono time before. It counts as read
// at the later end: that errs towards a bound that is too strict.
func (k *timekeeper) anchor(databaseMs int64) {
	_, mono := k.clock()
	k.database, k.anchored = sinceEpoch(databaseMs)-mono, true
}

// skew returns the node's time less the database's, as last compared. The moment at which the database was read is known
// no better than the round trip took.
func (k *timekeeper) skew() time.Duration {
	if !k.anchored {
		return 0
	}
	return k.offset - k.database
}

// wall returns the wall clock in Unix milliseconds.
func (k *timekeeper) wall() int64 {
	ms, _ := k.clock()
	return ms
}
