package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"redleaf/bench"
)

// warmup precedes what is measured in each run.
const warmup = 200 * time.Millisecond

// A compared is a comparison of redleaf (A) with Redis (B).
type compared struct {
	Name    string
	Command string // as it was run, with names for addresses and process ids
	bench.Comparison

	plot string // file for the latencies of both; "": none
}

// A question is a comparison to be made.
type question struct {
	name, speedBar string
	speed          float64 // ids per second, redleaf / Redis, at least
	cpuBar         string
	cpu            float64 // CPU time per id, Redis / redleaf, at least
	args           string  // of redleaf-bench compare
	reportP99      bool
	reportClient   bool // CPU time of the client
	onMariaDB      bool
	plot           string
}

// questions are those of the table. For what Redis has no equal, its INCR at depth 1,024 stands.
func questions() []question {
	const redis = " --b-workload incr --b-key segment:bench --b-depth 1024"
	return []question{
		{name: "INCR, depth 1,024, 8 connections", speed: 18, speedBar: "18, aim for 25", cpu: 15, cpuBar: "15, aim for 20", args: "-c 8 -P 1024", plot: "latency-1024.svg"},
		{name: "the same, redleaf on MariaDB", args: "-c 8 -P 1024", onMariaDB: true},
		{name: "INCR, depth 128", speed: 7, speedBar: "7", args: "-c 8 -P 128"},
		{name: "INCR, depth 16", speed: 1.5, speedBar: "1.5", args: "-c 8 -P 16"},
		{name: "INCR, depth 1, 32 connections", speed: 0.95, speedBar: "0.95, aim for 1.1", args: "-c 32 -P 1", reportP99: true, plot: "latency-1.svg"},
		{name: "GET snowflake, depth 1,024, 4 workers / Redis INCR", speed: 5, speedBar: "5", args: "-c 8 -P 1024 --workload get" + redis},
		{name: "LPOP segment 1000, depth 8 / Redis INCR", speed: 20, speedBar: "20", args: "-c 8 -P 8 --workload lpop --count 1000" + redis},
		{name: "10 tags in turn, depth 1,000, own client", args: "-c 8 -P 1000 --workload mixed"},
		{name: "10 tags in turn, depth 1,000, go-redis", speedBar: "as much as the client allows", args: "-c 8 -P 1000 --workload mixed --client go-redis", reportClient: true},
	}
}

// comparisons asks all questions, of servers that stay up for all of them.
func (s *suite) comparisons(ctx context.Context, r *results) error {
	redis, err := s.startRedis(ctx)
	if err != nil {
		return err
	}
	defer redis.stop()
	const workers = "--workers 4"
	sqlite, err := s.startRedleaf(ctx, "redleaf", append(strings.Fields(workers), "--init")...)
	if err != nil {
		return err
	}
	defer sqlite.stop()
	mariadb, stop, err := s.startOnMariaDB(ctx, strings.Fields(workers)...)
	if err != nil {
		return err
	}
	defer stop()
	r.Servers = append(r.Servers, sqlite.command, mariadb.command, redis.command)
	if err := s.sweep(ctx, r, sqlite, mariadb, redis); err != nil {
		return err
	}
	for _, q := range questions() {
		a := sqlite
		if q.onMariaDB {
			a = mariadb
		}
		if err := s.ask(ctx, r, q, a, redis); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return s.snowflakeLPOP(ctx, r, sqlite)
}

// ask makes one comparison.
func (s *suite) ask(ctx context.Context, r *results, q question, a, b *server) error {
	args := strings.Fields(q.args)
	args = append(args, "--pairs", fmt.Sprint(s.pairs), "-d", s.duration.String(), "--warmup", warmup.String())
	c := compared{Name: q.name, plot: q.plot, Command: "redleaf-bench compare redis://REDLEAF redis://REDIS " + join(args) + " --pid REDLEAF,REDIS"}
	args = append([]string{"compare", a.url(), b.url(), "--pid", fmt.Sprintf("%d,%d", a.pid(), b.pid())}, args...)
	if err := s.runBench(ctx, &c.Comparison, args...); err != nil {
		return err
	}
	r.Comparisons = append(r.Comparisons, c)
	if q.speedBar == "" {
		q.speedBar = "reported"
	}
	r.addBar(q.name+": ids/s, redleaf / Redis", q.speed, q.speedBar, c.Speed)
	if q.cpuBar != "" {
		r.addBar("server CPU per id there, Redis / redleaf", q.cpu, q.cpuBar, *c.CPU)
	}
	if q.reportP99 {
		r.addBar("p99 there, redleaf / Redis", 0, "reported", c.P99)
	}
	if q.reportClient {
		r.addBar("client CPU per id there, Redis / redleaf", 0, "reported", c.ClientCPU)
	}
	return nil
}

// snowflakeLPOP measures how near redleaf comes to what the layout has.
func (s *suite) snowflakeLPOP(ctx context.Context, r *results, redleaf *server) error {
	const most = 4 * 4096 * 1000 // ids per second of 4 workers
	var speeds []float64
	for range s.rounds {
		var got struct{ Results []bench.Result }
		err := s.runBench(ctx, &got, "run", redleaf.url(), "--workload", "lpop", "--key", "snowflake:bench", "--count", "1000", "-c", "8", "-P", "8",
			"-d", s.duration.String(), "--warmup", warmup.String())
		if err != nil {
			return err
		}
		speeds = append(speeds, got.Results[0].IDsPerSecond/most)
	}
	r.addBar("LPOP snowflake 1000, 4 workers: of the layout's 16.4 million/s", 0.9, "0.90", bench.RatioOf(speeds))
	return nil
}

// sweep measures ids per second by depth, and brings the servers' tags to their steady step.
func (s *suite) sweep(ctx context.Context, r *results, servers ...*server) error {
	for _, srv := range servers {
		var got struct{ Results []bench.Result }
		err := s.runBench(ctx, &got, "run", srv.url(), "-c", "8", "-P", "1024,512,256,128,64,32,16,8,4,2,1", "--pid", fmt.Sprint(srv.pid()),
			"-d", s.duration.String(), "--warmup", warmup.String())
		if err != nil {
			return err
		}
		r.Sweep = append(r.Sweep, bench.Series{Name: srv.name, Results: got.Results})
	}
	return nil
}

// runBench runs redleaf-bench and reads what it reports.
func (s *suite) runBench(ctx context.Context, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, s.bench, append(args, "--json", "-")...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("redleaf-bench %s: %w\n%s", join(args), err, &stderr)
	}
	return json.Unmarshal(out.Bytes(), into)
}

func join(args []string) string { return strings.Join(args, " ") }
