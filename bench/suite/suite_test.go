package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"redleaf/bench"
)

func TestSplit(t *testing.T) {
	const ms = time.Millisecond
	samples := []bench.Sample{
		{At: 100 * ms, Latency: ms, ID: 500},       // far from everything
		{At: 189 * ms, Latency: 2 * ms, ID: 990},   // due 6 ms before the switch
		{At: 196 * ms, Latency: 8 * ms, ID: 996},   // due 5 ms before it
		{At: 200 * ms, Latency: 7 * ms, ID: 1000},  // the switch, at 193 ms
		{At: 250 * ms, Latency: 45 * ms, ID: 1001}, // and the first after it, at 205 ms
		{At: 251 * ms, Latency: 31 * ms, ID: 1006}, // due 15 ms after that
		{At: 320 * ms, Latency: 60 * ms, ID: 1100}, // waiting while the refill was seen, but due before
		{At: 275 * ms, Latency: 6 * ms, ID: 1101},  // due around it
	}
	during, between := split(samples, []time.Duration{270 * ms})
	if want := []float64{6000, 7000, 8000, 31000, 45000}; !slices.Equal(during, want) {
		t.Errorf("during %v, want %v", during, want)
	}
	if want := []float64{1000, 2000, 60000}; !slices.Equal(between, want) {
		t.Errorf("between %v, want %v", between, want)
	}
	if got := []float64{percentile(during, 50), percentile(during, 99.9), percentile(during, 100)}; !slices.Equal(got, []float64{8000, 45000, 45000}) {
		t.Errorf("percentiles %v", got)
	}
}

func TestBenchstat(t *testing.T) {
	const said = `goos: linux
,/dev/stdin,
,sec/op,CI
mutex 1 1,1.25e-08,2%
redleaf 1 1,2.5e-08,3%
redleaf 1000 2,5e-10,∞
geomean,1e-08,

,/dev/stdin,
,B/op,CI
mutex 1 1,7,0%
`
	rows, err := parseBenchstat(said)
	if err != nil || len(rows) != 3 || rows[2] != (microRow{"redleaf 1000 2", 0.5, "∞"}) {
		t.Fatalf("%+v, %v", rows, err)
	}
	table := matrix(rows)
	want := [][]string{{"mutex", "12.5 ns ±2%", "", "", ""}, {"redleaf", "25.0 ns ±3%", "", "", "0.50 ns ±∞"}}
	if !slices.EqualFunc(table.Rows, want, slices.Equal) {
		t.Errorf("%q", table.Rows)
	}
}

// The page and the plots come out of whatever was measured.
func TestWrite(t *testing.T) {
	result := bench.Result{
		IDsPerSecond: 1e6, Depth: 16, Latency: bench.Latency{Percentiles: []bench.Point{{Percent: 50, Micros: 10}, {Percent: 99, Micros: 40}}},
		ServerCPU: &bench.CPU{NanosecondsPerID: 100},
	}
	side := bench.Side{Median: result, Runs: []bench.Result{result}}
	r := &results{Pairs: 5, Servers: []string{"redis-server"}, Machine: []fact{{"CPU", "some"}}}
	for _, plot := range []string{"latency-1.svg", "", "latency-1024.svg"} {
		r.Comparisons = append(r.Comparisons, compared{Name: "INCR", Comparison: bench.Comparison{A: side, B: side, CPU: new(bench.Ratio)}, plot: plot})
	}
	r.Sweep = []bench.Series{{Name: "redleaf", Results: []bench.Result{result}}, {Name: "Redis", Results: []bench.Result{result}}}
	r.Switches = &switchResult{Refills: 7}
	r.ColdStarts = []coldStart{{Lag: 20 * time.Millisecond, Waits: 5, Refills: 4, LastWait: 150 * time.Millisecond, Speed: 2e6}}
	r.Idle = []idleResult{{Server: "redleaf", After: 1 << 20}}
	r.Micro = []microTable{{Title: "libraries", Header: []string{"a", "b"}, Rows: [][]string{{"1", "2"}}}}
	r.addBar("speed", 18, "18, aim for 25", bench.Ratio{Median: 20, Low: 19, High: 21.5})
	r.addBar("speed", 18, "18", bench.Ratio{Median: 17.9})
	s := &suite{out: t.TempDir(), bench: filepath.Join(t.TempDir(), "bench")}
	if err := s.write(r); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.out, "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| speed | 18, aim for 25 | 20.0 | 19.0 to 21.5 | yes |\n| speed | 18 | 17.9 | 0.00 to 0.00 | no |\n", "| CPU | some |\n", "```\nredis-server\n```",
		"| 16 | 1.00 M | 100 ns | 1.00 M | 100 ns |\n", "at 7 refills", "| 20ms | 5 | 4 | 150ms | 2.00 M | 0 |\n",
		"| redleaf | 0 | 0.0 MiB | 0.0 MiB | 1.0 MiB | 0 bytes |\n", "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("RESULTS.md lacks %q", want)
		}
	}
	for _, name := range []string{"throughput.svg", "latency-1.svg", "latency-1024.svg"} {
		if !strings.Contains(string(text), "(plots/"+name+")") {
			t.Errorf("RESULTS.md does not show %s", name)
		}
		if _, err := os.Stat(filepath.Join(s.out, "plots", name)); err != nil {
			t.Error(err)
		}
	}
}

// The page's measured part is replaced, and the rest left alone.
func TestCostInto(t *testing.T) {
	c := &cost{
		Machine:    []fact{{"CPU", "some"}},
		Heartbeats: []heartbeatCost{{Nodes: 100, Connections: 300, Queries: 600, DatabaseCPU: 10.5}},
		Refills:    []refillCost{{Offered: "10000", IDs: 9999, Refills: 1000, PerRefill: 250}},
	}
	page := "before\n" + measuredFrom + "old\n" + measuredTo + "after\n"
	for range 2 { // its own output too
		text, err := c.into(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"before\n", "| 100 | 300 | 600 |", "| 10000 | 9999 | 1000 |", "after\n"} {
			if strings.Count(text, want) != 1 {
				t.Errorf("the page has %q not once:\n%s", want, text)
			}
		}
		if strings.Contains(text, "old") {
			t.Error("the old part is still there")
		}
		page = text
	}
	if _, err := c.into("before\n" + measuredFrom); err == nil {
		t.Error("a page without an end was taken")
	}
}

func TestParseFleets(t *testing.T) {
	if got, err := parseFleets("1,10,300"); err != nil || !slices.Equal(got, []int{1, 10, 300}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "0", "1,", "x", "5000"} {
		if _, err := parseFleets(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// A bar that is shown must be the one that is compared with, and each plot on the page has its question.
func TestQuestions(t *testing.T) {
	plots := 0
	for _, q := range questions() {
		if q.args == "" || q.name == "" || (q.speed > 0) != strings.ContainsAny(q.speedBar, "0123456789") {
			t.Errorf("%+v", q)
		}
		if q.plot != "" {
			plots++
		}
	}
	if plots != 2 {
		t.Errorf("%d plots", plots)
	}
}
