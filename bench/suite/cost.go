package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"text/template"
	"time"

	"redleaf/bench"
)

const (
	fleetSettle = 20 * time.Second // until the first windows, which are short, are extended
	fleetTime   = 20 * time.Second // what is measured
)

// A heartbeatCost is what nodes without clients cost.
type heartbeatCost struct {
	Nodes, Connections                          int64
	Queries, Writes, Rows, LockWaits, LogWrites float64 // per second
	DatabaseCPU, NodeCPU                        float64 // of one core, in percent; of each node
	SentKB                                      float64 // per second
}

func (s *suite) heartbeats(ctx context.Context, size int) (*heartbeatCost, error) {
	log.Printf("measuring: %d nodes", size)
	f, err := s.startFleet(ctx, size, "--cluster")
	if err != nil {
		return nil, err
	}
	defer f.stop()
	if err := f.await(ctx); err != nil {
		return nil, err
	}
	if err := pause(ctx, fleetSettle); err != nil {
		return nil, err
	}
	u, err := f.during(ctx, func() error { return pause(ctx, fleetTime) })
	if err != nil {
		return nil, err
	}
	return &heartbeatCost{
		Nodes: int64(size), Connections: u.status["Threads_connected"] - 1,
		Queries: u.per("Questions"), Writes: u.per("Com_insert", "Com_update", "Com_delete"),
		Rows: u.per("Rows_read"), LockWaits: u.per("Innodb_row_lock_waits"), LogWrites: u.per("Innodb_log_writes"), SentKB: u.per("Bytes_sent") / 1000,
		DatabaseCPU: percentOf(u.database, u.took), NodeCPU: percentOf(u.nodes, u.took) / float64(size),
	}, nil
}

func percentOf(part, whole time.Duration) float64 { return 100 * part.Seconds() / whole.Seconds() }

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// parseFleets reads numbers of nodes.
func parseFleets(text string) (sizes []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || n > 1000 {
			return nil, fmt.Errorf("-fleets %s: want numbers of nodes, 1 to 1000", text)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// A cost is what many nodes cost their database.
type cost struct {
	Machine    []fact
	Heartbeats []heartbeatCost
	Refills    []refillCost
}

// RefillNodes, RefillTags and RefillStep are what Refills were measured with.
func (*cost) RefillNodes() int { return refillNodes }
func (*cost) RefillTags() int  { return refillTags }
func (*cost) RefillStep() int  { return refillStep }

// measureCost writes the page's measured part.
func (s *suite) measureCost(ctx context.Context) error {
	var about results
	if err := s.machine(ctx, &about); err != nil {
		return err
	}
	c := &cost{Machine: about.Machine}
	for _, size := range s.fleets {
		h, err := s.heartbeats(ctx, size)
		if err != nil {
			return fmt.Errorf("%d nodes: %w", size, err)
		}
		c.Heartbeats = append(c.Heartbeats, *h)
	}
	var err error
	if c.Refills, err = s.allRefills(ctx); err != nil {
		return fmt.Errorf("refills: %w", err)
	}
	page, err := os.ReadFile(s.cost)
	if err != nil {
		return err
	}
	text, err := c.into(string(page))
	if err != nil {
		return err
	}
	return os.WriteFile(s.cost, []byte(text), 0o644)
}

// What was measured stands between these lines of the page.
const (
	measuredFrom = "<!-- measured by make cost -->\n"
	measuredTo   = "<!-- end of what was measured -->\n"
)

//go:embed cost.md.tmpl
var costPage string

// into replaces the measured part of the page.
func (c *cost) into(page string) (string, error) {
	before, rest, begins := strings.Cut(page, measuredFrom)
	_, after, ends := strings.Cut(rest, measuredTo)
	if !begins || !ends {
		return "", fmt.Errorf("the page lacks the line %q or %q", strings.TrimSpace(measuredFrom), strings.TrimSpace(measuredTo))
	}
	parsed, err := template.New("cost").Funcs(template.FuncMap{"rounded": bench.Rounded, "micros": bench.Micros}).Parse(costPage)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	if err := parsed.Execute(&text, c); err != nil {
		return "", err
	}
	return before + measuredFrom + text.String() + measuredTo + after, nil
}
