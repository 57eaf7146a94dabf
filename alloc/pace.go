package alloc

import "time"

// headroom is how many times the ids that go during a refill should be at hand when it begins: rates vary.
const headroom = 2

// pace measures how fast ids go and how long refills take, and says from that how many ids should be at hand. Both rise
// at once and fall slowly: a stall costs more than a segment too many.
type pace struct {
	rate   float64       // ids a second
	took   time.Duration // of a refill
	issued int64         // at the last refill
	at     time.Time     // of the last refill; zero: there was none
}

// refill notes that a refill came at now, having taken the given time, when so many ids had been issued in all.
func (p *pace) refill(issued int64, now time.Time, took time.Duration) {
	p.took = max(took, (p.took+took)/2)
	if elapsed := now.Sub(p.at).Seconds(); !p.at.IsZero() && elapsed > 0 {
		rate := float64(issued-p.issued) / elapsed
		p.rate = max(rate, (p.rate+rate)/2)
	}
	p.issued, p.at = issued, now
}

// ahead returns how many ids should be at hand.
func (p *pace) ahead() int64 { return int64(headroom * p.rate * p.took.Seconds()) }
