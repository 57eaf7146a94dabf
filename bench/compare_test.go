package bench

import (
	"testing"
	"time"
)

// side makes a side of runs with these speeds; the server's CPU time per id is 1000 over the speed.
func side(speeds ...float64) Side {
	var s Side
	for _, v := range speeds {
		s.Runs = append(s.Runs, Result{IDsPerSecond: v, Latency: Latency{P99: 100 / v}, ServerCPU: &CPU{NanosecondsPerID: 1000 / v}})
	}
	return s
}

func TestComparison(t *testing.T) {
	// One run of A was disturbed, and one of B: the medians don't show it, the spread does.
	c := &Comparison{A: side(20, 5, 21, 20, 19), B: side(10, 10, 10, 2, 11)}
	c.summarise()
	if got, want := c.Speed, (Ratio{Median: 2, Low: 0.5, High: 10}); got != want {
		t.Errorf("speed %+v, want %+v", got, want)
	}
	if got, want := c.P99, (Ratio{Median: 0.5, Low: 0.1, High: 2}); got != want {
		t.Errorf("p99 %+v, want %+v", got, want)
	}
	if got, want := *c.CPU, (Ratio{Median: 2, Low: 0.5, High: 10}); got != want {
		t.Errorf("CPU %+v, want %+v", got, want)
	}
	if c.A.Median.IDsPerSecond != 20 || c.B.Median.IDsPerSecond != 10 {
		t.Errorf("median runs %v and %v", c.A.Median.IDsPerSecond, c.B.Median.IDsPerSecond)
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 5}, 5}, {[]float64{8, 1, 2, 4}, 3}} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("median of %v: %v, want %v", tt.values, got, tt.want)
		}
	}
}

// Compare alternates which of the two comes first.
func TestCompareOrder(t *testing.T) {
	a := Load{Target: startFake(t, Load{}.fill(), ":1\r\n").target(), Connections: 1, Duration: 5 * time.Millisecond}
	b := a
	b.Depth = 8
	var steps []int
	c, err := Compare(t.Context(), a, b, 3, func(done, total int) { steps = append(steps, done, total) })
	if err != nil {
		t.Fatal(err)
	}
	if len(c.A.Runs) != 3 || len(c.B.Runs) != 3 || len(steps) != 12 || steps[10] != 6 || c.Speed.Median <= 0 {
		t.Errorf("%d and %d runs, progress %v, ratio %v", len(c.A.Runs), len(c.B.Runs), steps, c.Speed)
	}
	for i := range 3 {
		if c.A.Runs[i].Depth != 1 || c.B.Runs[i].Depth != 8 {
			t.Errorf("pair %d: depths %d and %d", i, c.A.Runs[i].Depth, c.B.Runs[i].Depth)
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Factor(0.953), "0.95"}, {Factor(22.04), "22.0"}, {Factor(9.999), "10.00"}, {Factor(123.4), "123"}, {Factor(0), "0.00"},
		{Rounded(35_120_000), "35.1 M"}, {Rounded(106_500), "106 k"}, {Rounded(999), "999"}, {Rounded(16_384), "16.4 k"},
		{Nanoseconds(36.4), "36.4 ns"}, {Nanoseconds(1234), "1.23 µs"}, {Micros(2_500), "2.50 ms"}, {Micros(3e6), "3.00 s"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
