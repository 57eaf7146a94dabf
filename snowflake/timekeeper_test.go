package snowflake

import (
	"testing"
	"time"
)

// fakeClock is a wall clock and a monotonic one, set by hand.
type fakeClock struct {
	wall int64         // Unix milliseconds
	mono time.Duration // any start
}

func (c *fakeClock) read() (int64, time.Duration) { return c.wall, c.mono }

func (c *fakeClock) pass(ms int64) {
	c.wall += ms
	c.mono += time.Duration(ms) * time.Millisecond
}

func TestTimekeeper(t *testing.T) {
	const start = int64(1_800_000_000_000)
	c := &fakeClock{wall: start, mono: 77 * time.Second}
	k := newTimekeeper(c.read, 5*time.Second)
	expect := func(what string, want int64, wantStep time.Duration) {
		t.Helper()
		got, step := k.now()
		if got != want || step != wantStep {
			t.Fatalf("%s: %d ms after the start, step %v; want %d, %v", what, got-start, step, want-start, wantStep)
		}
	}
	expect("at the start", start, 0)
	c.pass(1000)
	expect("a second later", start+1000, 0)
	c.wall -= 60_000
	expect("the wall clock stepped back", start+1000, time.Minute)
	expect("and stays there", start+1000, 0)
	c.pass(500)
	expect("time goes on", start+1500, 0)
	c.wall += 60_000 + 3000
	expect("the wall clock is ahead", start+4500, 0)
	c.wall -= 50
	expect("slewing is no step", start+4500, 0)
	if k.stepsBack != 1 {
		t.Errorf("%d steps back counted, want 1", k.stepsBack)
	}

	k.anchor(start + 2000)
	c.wall += 3600_000
	expect("far ahead of the database: held at the skew allowed", start+7000, 0)
	c.pass(100)
	expect("and carried on", start+7100, 0)
	if got := k.skew(); got != 5*time.Second {
		t.Errorf("skew %v, want 5s", got)
	}
	k.anchor(start + 1000)
	expect("never back, even when the database is", start+7100, 0)
}
