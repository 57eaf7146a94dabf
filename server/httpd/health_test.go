package httpd

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"redleaf/snowflake"
)

// Segment ids can be had while the store answers, or while every tag in use has some at hand.
func TestReadyz(t *testing.T) {
	s := newSite(t)
	var state readiness
	s.get("/readyz").want(t, http.StatusOK).json(t, &state)
	if !state.Ready || !state.Segment.Ready || !state.Snowflake.Ready || !state.Store.Ready {
		t.Errorf("%+v", state)
	}

	s = newSite(t, impatient)
	s.get("/api/segment/get/orders").want(t, http.StatusOK)
	s.store.away.Store(true)
	s.get("/readyz").want(t, http.StatusOK).json(t, &state)
	if !state.Segment.Ready || state.Store.Ready || !strings.Contains(state.Segment.Problem, "ids at hand are issued") {
		t.Errorf("with ids at hand: %+v", state.Segment)
	}
	s.get("/api/segment/get/orders?n=5000").want(t, http.StatusServiceUnavailable) // takes all there is
	a := s.get("/readyz").want(t, http.StatusServiceUnavailable)
	if a.json(t, &state); state.Ready || !strings.Contains(state.Segment.Problem, "'orders' has no ids left") || a.Header.Get("Retry-After") == "" {
		t.Errorf("without ids: %+v", state.Segment)
	}
	s.get("/healthz").want(t, http.StatusOK)
}

func TestSnowflakeReady(t *testing.T) {
	l, now := snowflake.DefaultLayout(), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	window := snowflake.Status{Workers: []snowflake.WorkerStatus{{ID: 3, Until: now.Add(time.Second)}}}
	if r := snowflakeReady(window, l, now); !r.Ready {
		t.Errorf("%+v", r)
	}
	if r := snowflakeReady(window, l, now.Add(2*time.Second)); r.Ready || r.Problem != "no worker window" {
		t.Errorf("%+v", r)
	}
	if r := snowflakeReady(snowflake.Status{Err: errAway}, l, now); r.Ready || r.Problem != "no worker window: the database is away" {
		t.Errorf("%+v", r)
	}
	if r := snowflakeReady(window, l, time.UnixMilli(l.MaxTime()+1)); r.Ready {
		t.Errorf("%+v", r)
	}
}
