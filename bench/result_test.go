package bench

import (
	"math"
	"testing"
	"time"
)

// Workers' histograms add up to one whose percentiles are those of all requests.
func TestLatenciesAddUp(t *testing.T) {
	var workers []*worker
	for i := range 4 {
		w := &worker{latency: newHistogram(4), requests: 250, ids: 500}
		for v := i; v < 1000; v += 4 { // microseconds 1 to 1,000, dealt out
			if err := w.latency.RecordValue(clamp(time.Duration(v+1) * time.Microsecond)); err != nil {
				t.Fatal(err)
			}
		}
		workers = append(workers, w)
	}
	l := Load{Duration: 2 * time.Second, Pid: 1}
	r := newResult(l, workers, cpuMeter{server: 4 * time.Millisecond, own: time.Second})
	if r.Requests != 1000 || r.IDs != 2000 || r.IDsPerSecond != 1000 || r.Histogram.TotalCount() != 1000 {
		t.Errorf("%d requests, %d ids, %v a second, %d latencies", r.Requests, r.IDs, r.IDsPerSecond, r.Histogram.TotalCount())
	}
	for _, tt := range []struct{ got, want float64 }{
		{r.Latency.P50, 500}, {r.Latency.P90, 900}, {r.Latency.P99, 990}, {r.Latency.P999, 999}, {r.Latency.Max, 1000}, {r.Latency.Mean, 500.5},
	} {
		if math.Abs(tt.got-tt.want) > tt.want/500 {
			t.Errorf("%v µs, want %v", tt.got, tt.want)
		}
	}
	if r.ServerCPU.NanosecondsPerID != 2000 || r.ServerCPU.Cores != 0.002 || r.ClientCPU.Cores != 0.5 {
		t.Errorf("server %+v, client %+v", *r.ServerCPU, r.ClientCPU)
	}
	last := Point{}
	for _, p := range r.Latency.Percentiles {
		if p.Percent < last.Percent || p.Micros < last.Micros {
			t.Errorf("%+v follows %+v", p, last)
		}
		last = p
	}
}

// Latencies beyond what a histogram holds count as the longest, not as none.
func TestLatencyBounds(t *testing.T) {
	h := newHistogram(fewWorkers + 1)
	for _, d := range []time.Duration{-5, 0, 1, time.Hour} {
		if err := h.RecordValue(clamp(d)); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
	if h.TotalCount() != 4 {
		t.Errorf("%d recorded, want 4", h.TotalCount())
	}
}

func TestParseStat(t *testing.T) {
	const stat = "1234 (a) b (c) S 1 1234 1234 0 -1 4194560 5 0 0 0 123 45 6 7 20 0 9 0 987 1000 200 18446744073709551615 1 1 0"
	got, err := parseStat([]byte(stat))
	if want := 1680 * time.Millisecond; err != nil || got != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"", "1 (x) S 1 2", "1 (x) S 1 1 1 0 -1 1 5 0 0 0 x 45 6", "1 (x) S 1 1 1 0 -1 1 5 0 0 0 45 x 6"} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}
