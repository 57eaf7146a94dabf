package alloc

import "time"

// waitedGrowth is how much the step grows after a refill that callers had to wait for: doubling, Leaf's rule alone,
// would make a busy new tag wait ten times before its segments are long enough.
const waitedGrowth = 8

// stepRule decides how many ids a refill leases. It is Leaf's rule with its bugs fixed: the cap is reached exactly, the
// row's step is reached exactly on the way down, and a raised row step counts at once.
type stepRule struct {
	cap    int64         // Config.MaxStep; a row whose own step is larger has its way
	target time.Duration // Config.SegmentDuration
}

// next returns the step that follows prev. row is the row's step (at least 1); lasted is the time since the previous
// refill; waited says whether callers had to wait for that refill. prev 0 means that there was none.
func (r stepRule) next(prev, row int64, lasted time.Duration, waited bool) int64 {
	step := prev
	switch {
	case prev == 0:
		step = row
	case waited:
		step = prev * waitedGrowth
	case lasted < r.target:
		step = prev * 2
	case lasted > 2*r.target:
		step = prev / 2
	}
	return max(row, min(step, r.cap))
}
