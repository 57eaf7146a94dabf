package httpd

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// The names follow Prometheus's conventions; every kind of metric is there.
func TestMetrics(t *testing.T) {
	s := newSite(t, func(c *setup) { c.alloc.AutoCreate = true })
	s.get("/api/segment/get/orders?n=1500").want(t, http.StatusOK)
	s.get("/api/snowflake/get/x").want(t, http.StatusOK)
	s.get("/api/segment/get/%20").want(t, http.StatusBadRequest)
	problems, err := testutil.GatherAndLint(newRegistry(s.Server))
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	text := s.get("/metrics").want(t, http.StatusOK).body
	for _, want := range []string{
		`redleaf_ids_issued_total{kind="segment"} 1500`, `redleaf_ids_issued_total{kind="snowflake"} 1`, `redleaf_store_up 1`,
		`redleaf_http_requests_total{code="400",handler="segment_get"} 1`, `redleaf_segment_lease_duration_seconds_count`,
		`redleaf_snowflake_worker_window_left_seconds{worker="0"}`, `redleaf_pipeline_depth_bucket{le="16"} 0`, `redleaf_segment_left_seconds `,
		`redleaf_build_info{goversion="go`, `go_goroutines`, `process_open_fds`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	promtool(t, text)
}

// promtool checks the text as `promtool check metrics` does, where it is installed: make test-deploy installs it.
func promtool(t *testing.T, text string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Log("promtool is not installed")
		return
	}
	cmd := exec.CommandContext(t.Context(), path, "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil || out.Len() > 0 {
		t.Errorf("promtool: %v\n%s", err, out.String())
	}
}

// However many tags there are, few have metrics of their own; the others are added up and their sum only rises.
func TestTagMetricsAreBounded(t *testing.T) {
	s := newSite(t, func(c *setup) { c.alloc.AutoCreate = true; c.http.MaxTags = 3 }).byHand()
	for i := range 50 {
		s.get(fmt.Sprintf("/api/segment/get/tag%d?n=%d", i, i+1)).want(t, http.StatusOK)
	}
	now, before := time.Now(), int64(0)
	for round := range 20 {
		s.get("/api/segment/get/tag49?n=100").want(t, http.StatusOK)
		s.sampler.sample(now.Add(time.Duration(round+1) * time.Hour))
		text := s.get("/metrics").want(t, http.StatusOK).body
		if n := strings.Count(text, "redleaf_segment_tag_ids_issued_total{"); n != 3 {
			t.Fatalf("%d tags have metrics of their own", n)
		}
		if s.sampler.top.other < before {
			t.Fatalf("the others' sum fell from %d to %d", before, s.sampler.top.other)
		}
		before = s.sampler.top.other
	}
	if !s.sampler.top.has("tag49") {
		t.Errorf("the busiest tag is not among %v", s.sampler.top.issued)
	}
}

// A rate is smoothed, falls to nothing, and does not jump when a counter begins anew.
func TestRate(t *testing.T) {
	var r rate
	r.add(1000, 0)
	r.add(1100, time.Second)
	if r.perSecond != 100 {
		t.Errorf("%v", r.perSecond)
	}
	r.add(5, time.Second)
	if r.perSecond >= 100 || r.perSecond < 50 {
		t.Errorf("%v", r.perSecond)
	}
	for range 100 {
		r.add(5, time.Second)
	}
	if r.perSecond != 0 {
		t.Errorf("%v", r.perSecond)
	}
}

// Tags that are deleted are forgotten.
func TestSamplerForgets(t *testing.T) {
	s := newSite(t).byHand()
	s.get("/api/segment/get/orders").want(t, http.StatusOK)
	s.sampler.sample(time.Now().Add(time.Hour))
	if err := s.segments.Delete(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	s.sampler.sample(time.Now().Add(2 * time.Hour))
	if len(s.sampler.tags) != 0 || s.sampler.top.has("orders") {
		t.Errorf("%v", s.sampler.tags)
	}
}
