package snowflake

import "testing"

// small is a layout of 8 sequence numbers and 4 worker ids.
var small = Layout{Epoch: 0, TimeBits: 41, WorkerBits: 2, SequenceBits: 3}

func newGenerator(windows ...window) *generator {
	g := &generator{layout: small, random: func(n int64) int64 { return n - 1 }}
	for _, w := range windows {
		g.add(w)
	}
	return g
}

// drawn is one call of take: at a time, for n ids, with what is expected. got 0 means none.
type drawn struct {
	now, n   int64
	ts       int64
	worker   int
	seq, got int64
}

func TestGenerator(t *testing.T) {
	tests := []struct {
		name    string
		windows []window
		calls   []drawn
	}{
		{"no window", nil, []drawn{{now: 100, n: 1}}},
		{"one by one", []window{{worker: 1, from: 99, until: 200}}, []drawn{
			{100, 1, 100, 1, 0, 1}, {100, 1, 100, 1, 1, 1}, {101, 1, 101, 1, 0, 1}, {150, 1, 150, 1, 0, 1},
		}},
		{"a batch ends with the millisecond", []window{{worker: 1, from: 0, until: 200}}, []drawn{
			{100, 100, 100, 1, 0, 8}, {100, 100, 101, 1, 0, 8}, {100, 3, 102, 1, 0, 3}, {100, 100, 102, 1, 3, 5},
		}},
		{"ahead of the clock by 10 ms at most", []window{{worker: 0, from: 0, until: 1000}}, []drawn{
			{100, 8, 100, 0, 0, 8}, {100, 8, 101, 0, 0, 8}, {100, 8, 102, 0, 0, 8}, {100, 8, 103, 0, 0, 8},
			{100, 8, 104, 0, 0, 8}, {100, 8, 105, 0, 0, 8}, {100, 8, 106, 0, 0, 8}, {100, 8, 107, 0, 0, 8},
			{100, 8, 108, 0, 0, 8}, {100, 8, 109, 0, 0, 8}, {100, 8, 110, 0, 0, 8}, {now: 100, n: 8},
			{101, 8, 111, 0, 0, 8},
		}},
		{"a clock that stands still behind the position", []window{{worker: 0, from: 0, until: 1000}}, []drawn{
			{100, 8, 100, 0, 0, 8}, {100, 4, 101, 0, 0, 4}, {100, 4, 101, 0, 4, 4}, {100, 1, 102, 0, 0, 1},
		}},
		{"not before the window", []window{{worker: 0, from: 120, until: 200}}, []drawn{
			{now: 100, n: 1}, {now: 110, n: 1}, {111, 1, 121, 0, 0, 1}, {now: 100, n: 8, ts: 121, seq: 1, got: 7},
		}},
		{"not after the window", []window{{worker: 0, from: 0, until: 101}}, []drawn{
			{100, 9, 100, 0, 0, 8}, {100, 9, 101, 0, 0, 8}, {now: 100, n: 1}, {now: 101, n: 1}, {now: 102, n: 1},
		}},
		{"workers in rising order within a millisecond", []window{{worker: 3, from: 0, until: 200}, {worker: 1, from: 0, until: 200}}, []drawn{
			{100, 8, 100, 1, 0, 8}, {100, 8, 100, 3, 0, 8}, {100, 8, 101, 1, 0, 8}, {101, 1, 101, 3, 0, 1},
		}},
		{"a gap between windows is jumped", []window{{worker: 2, from: 0, until: 100}, {worker: 2, from: 103, until: 200}}, []drawn{
			{100, 8, 100, 2, 0, 8}, {100, 8, 104, 2, 0, 8},
		}},
		{"a window that ends hands over to a lower worker in the next millisecond", []window{{worker: 2, from: 0, until: 100}, {worker: 1, from: 0, until: 200}}, []drawn{
			{100, 8, 100, 1, 0, 8}, {100, 4, 100, 2, 0, 4}, {101, 1, 101, 1, 0, 1},
		}},
		{"the last timestamp of the layout", []window{{worker: 0, from: 0, until: 1 << 60}}, []drawn{
			{small.MaxTime(), 8, small.MaxTime(), 0, 0, 8}, {now: small.MaxTime(), n: 1}, {now: small.MaxTime() + 1, n: 1},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGenerator(tt.windows...)
			for i, c := range tt.calls {
				first, got := g.take(c.now, c.n)
				want := int64(0)
				if c.got > 0 {
					want = small.ID(c.ts, c.worker, c.seq)
				}
				if first != want || got != c.got {
					t.Fatalf("call %d: take(%d, %d) = %d, %d, want %d, %d", i, c.now, c.n, first, got, want, c.got)
				}
			}
		})
	}
}

func TestIdleMillisecondsStartAtRandom(t *testing.T) {
	g := &generator{layout: DefaultLayout(), random: func(n int64) int64 { return n - 1 }}
	g.add(window{worker: 1, from: 0, until: 1 << 60})
	now := int64(DefaultEpoch + 1000)
	seq := func(ms, n int64) int64 {
		first, _ := g.take(now+ms, n)
		parts, err := g.layout.Decode(first)
		if err != nil {
			t.Fatal(err)
		}
		return parts.Sequence
	}
	if got := seq(0, 1); got != 99 {
		t.Errorf("the first id has sequence %d, want 99", got)
	}
	if got := seq(0, 4096); got != 100 {
		t.Errorf("the next id has sequence %d, want 100", got)
	}
	if got := seq(1, 1); got != 0 {
		t.Errorf("after a full millisecond the sequence starts at %d, want 0", got)
	}
	if got := seq(5, 1); got != 99 {
		t.Errorf("after idle milliseconds the sequence starts at %d, want 99", got)
	}
}

func TestGeneratorExtendAndUsed(t *testing.T) {
	g := newGenerator(window{worker: 1, from: 50, until: 100})
	if ts, ok := g.used(1, 100); !ok || ts != 50 {
		t.Errorf("an unused window has used %d, %v, want its start", ts, ok)
	}
	g.take(100, 1)
	g.extend(1, 100, 90)
	g.extend(1, 100, 200)
	g.extend(1, 150, 900) // no such window
	if ts, ok := g.used(1, 200); !ok || ts != 100 {
		t.Errorf("used %d, %v, want 100", ts, ok)
	}
	if _, got := g.take(200, 1); got != 1 {
		t.Error("the extension is not used")
	}
	if _, got := g.take(201, 1); got != 0 {
		t.Error("a timestamp past the extension was issued")
	}
	g.drop(200, func(window) bool { return false })
	if len(g.windows) != 1 {
		t.Error("a window that has not ended was dropped")
	}
	g.drop(201, func(window) bool { return true })
	if len(g.windows) != 1 {
		t.Error("a window that is kept was dropped")
	}
	g.drop(201, func(window) bool { return false })
	if len(g.windows) != 0 {
		t.Error("an ended window was kept")
	}
}
