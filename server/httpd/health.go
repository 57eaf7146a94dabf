package httpd

import (
	"io"
	"net/http"
	"time"

	"redleaf/alloc"
	"redleaf/server"
	"redleaf/snowflake"
)

// healthz says that the process is alive.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request, _ server.Caller) error {
	w.Header().Set("Content-Type", textType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, "ok\n") // the client may be gone
	return nil
}

// readiness is whether the node can issue both kinds of ids now. What is wrong stands in it only for those who may see
// INFO: probes come from anywhere.
type readiness struct {
	Ready     bool   `json:"ready"`
	Stopping  bool   `json:"stopping,omitempty"`
	Segment   *ready `json:"segment,omitempty"`
	Snowflake *ready `json:"snowflake,omitempty"`
	Store     *ready `json:"store,omitempty"`
}

type ready struct {
	Ready   bool   `json:"ready"`
	Problem string `json:"problem,omitempty"`
}

// Parts are the parts by name, for people.
func (r readiness) Parts() map[string]*ready {
	parts := map[string]*ready{}
	for name, part := range map[string]*ready{"Segment ids": r.Segment, "Snowflake ids": r.Snowflake, "Store": r.Store} {
		if part != nil {
			parts[name] = part
		}
	}
	return parts
}

func (s *Server) readyz(w http.ResponseWriter, r *http.Request, _ server.Caller) error {
	state := s.readiness()
	if who, err := s.caller(r); err != nil || who.May("info") != nil {
		for _, part := range []*ready{state.Segment, state.Snowflake, state.Store} {
			if part != nil {
				part.Problem = ""
			}
		}
	}
	status := http.StatusOK
	if !state.Ready {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, state)
	return nil
}

func (s *Server) readiness() readiness {
	state := readiness{Stopping: s.draining.Load()}
	storeErr := s.cfg.Redis.Store().Err
	state.Store = &ready{Ready: storeErr == nil}
	if storeErr != nil {
		state.Store.Problem = storeErr.Error()
	}
	state.Ready = !state.Stopping
	if a := s.cfg.Segments; a != nil {
		state.Segment = segmentReady(a, storeErr)
		state.Ready = state.Ready && state.Segment.Ready
	}
	if n := s.cfg.Snowflakes; n != nil {
		state.Snowflake = snowflakeReady(n.Status(), n.Layout(), time.Now())
		state.Ready = state.Ready && state.Snowflake.Ready
	}
	return state
}

// segmentReady reports whether segment ids can be had: the store answers, or every tag in use has ids at hand.
func segmentReady(a *alloc.Allocator, storeErr error) *ready {
	if storeErr == nil {
		return &ready{Ready: true}
	}
	inUse := 0
	for l := range a.Live() {
		inUse++
		if l.Left+l.Next == 0 {
			return &ready{Problem: "tag '" + l.Row.Tag + "' has no ids left, and the store does not answer: " + storeErr.Error()}
		}
	}
	if inUse == 0 {
		return &ready{Problem: "no tag has ids, and the store does not answer: " + storeErr.Error()}
	}
	return &ready{Ready: true, Problem: "the store does not answer; ids at hand are issued: " + storeErr.Error()}
}

// snowflakeReady reports whether snowflake ids can be had now.
func snowflakeReady(st snowflake.Status, l snowflake.Layout, now time.Time) *ready {
	switch {
	case now.UnixMilli() > l.MaxTime():
		return &ready{Problem: "the time bits of the layout are used up"}
	case windowLeft(st, now) > 0:
		return &ready{Ready: true}
	case st.Err != nil:
		return &ready{Problem: "no worker window: " + st.Err.Error()}
	}
	return &ready{Problem: "no worker window"}
}

// windowLeft returns for how long ids go on without the store.
func windowLeft(st snowflake.Status, now time.Time) (left time.Duration) {
	for _, w := range st.Workers {
		left = max(left, w.Until.Sub(now))
	}
	return left
}
