package bench

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Result is what one run measured.
type Result struct {
	Target      string  `json:"target"`
	Client      string  `json:"client"`
	Workload    string  `json:"workload"`
	Key         string  `json:"key"`
	Tags        int     `json:"tags"`
	Count       int     `json:"count,omitempty"` // ids of one request, where a request asks for several
	Connections int     `json:"connections"`
	Depth       int     `json:"depth"`
	Rate        float64 `json:"rate,omitempty"` // requests per second asked for; 0: as many as possible

	Seconds  float64 `json:"seconds"`  // measured
	Requests int64   `json:"requests"` // answered in that time
	IDs      int64   `json:"ids"`      // in those answers
	Errors   int64   `json:"errors"`   // error replies and nils among them
	Missed   int64   `json:"missed"`   // requests that were due and could not be sent in time
	Failure  string  `json:"failure,omitempty"`

	IDsPerSecond float64 `json:"ids_per_second"`
	Latency      Latency `json:"latency"`

	ServerCPU *CPU `json:"server_cpu,omitempty"` // nil without a pid
	ClientCPU CPU  `json:"client_cpu"`

	Histogram *hdrhistogram.Histogram `json:"-"` // of latencies, in nanoseconds
	Trace     []Sample                `json:"-"` // with Load.Trace: every request, in no order
	Began     time.Time               `json:"-"` // what Samples count from
}

// A CPU is processor time that a process spent while a run was measured.
type CPU struct {
	NanosecondsPerID float64 `json:"ns_per_id"`
	Cores            float64 `json:"cores"` // kept busy on average
}

// Latency is in microseconds, from when a request was sent (with a rate: due) to when its reply was read. In a pipeline that
// includes what was sent before it.
type Latency struct {
	Mean        float64 `json:"mean_us"`
	P50         float64 `json:"p50_us"`
	P90         float64 `json:"p90_us"`
	P99         float64 `json:"p99_us"`
	P999        float64 `json:"p99_9_us"`
	P9999       float64 `json:"p99_99_us"`
	Max         float64 `json:"max_us"`
	Percentiles []Point `json:"percentiles"`
}

// A Point says that a percentage of the requests took at most so many microseconds.
type Point struct {
	Percent float64 `json:"percent"`
	Micros  float64 `json:"us"`
}

// summarise reads the percentiles of a histogram.
func summarise(h *hdrhistogram.Histogram) Latency {
	at := func(percent float64) float64 { return micros(h.ValueAtPercentile(percent)) }
	l := Latency{Mean: h.Mean() / 1e3, P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), P9999: at(99.99), Max: micros(h.Max())}
	const ticks = 8 // points each time that the distance to 100 % halves
	for _, b := range h.CumulativeDistributionWithTicks(ticks) {
		l.Percentiles = append(l.Percentiles, Point{Percent: b.Quantile, Micros: micros(b.ValueAt)})
	}
	return l
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }

// newResult adds up what the workers measured.
func newResult(l Load, workers []*worker, used cpuMeter) *Result {
	r := &Result{
		Target: l.Target.String(), Client: l.Client, Workload: l.Workload, Key: l.Key, Tags: l.Tags,
		Connections: l.Connections, Depth: l.Depth, Rate: l.Rate, Seconds: l.Duration.Seconds(),
		Histogram: newHistogram(len(workers)), Began: workers[0].start,
	}
	if l.Workload == "incrby" || l.Workload == "mget" || l.Workload == "lpop" {
		r.Count = l.Count
	}
	for _, w := range workers {
		r.Requests += w.requests
		r.IDs += w.ids
		r.Errors += w.errors
		r.Missed += w.missed
		setDefault(&r.Failure, w.failure)
		r.Histogram.Merge(w.latency)
		r.Trace = append(r.Trace, w.traced...)
	}
	r.IDsPerSecond = float64(r.IDs) / r.Seconds
	r.Latency = summarise(r.Histogram)
	r.ClientCPU = r.cpu(used.own)
	if l.Pid != 0 {
		r.ServerCPU = new(r.cpu(used.server))
	}
	return r
}

func (r *Result) cpu(used time.Duration) CPU {
	c := CPU{Cores: used.Seconds() / r.Seconds}
	if r.IDs > 0 {
		c.NanosecondsPerID = float64(used) / float64(r.IDs)
	}
	return c
}
