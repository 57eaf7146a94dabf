package httpd

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"redleaf/alloc"
	"redleaf/server"
	"redleaf/snowflake"
)

// dashboardTags is how many tags the dashboard shows at a time.
const dashboardTags = 50

// dashboard is the page at /.
type dashboard struct {
	Ready     readiness
	Now       time.Time
	Rates     rateView
	Redis     server.Metrics
	Store     server.Store
	Nodes     []nodeView
	Segments  *segmentView
	Snowflake *flakeView
	Decoded   decoded
	Create    createForm
}

// rateView is the speed and its last minutes.
type rateView struct {
	IDs, Segment, Snowflake, Commands float64
	Line                              string // points of a line in a field of 120 by 30
	Peak                              float64
}

type segmentView struct {
	alloc.Totals
	List    tagList
	MayList bool
}

type flakeView struct {
	snowflake.Status
	Layout  snowflake.Layout
	Left    time.Duration // of the window
	End     time.Time     // of the layout
	LeftAll time.Duration // until then
}

type nodeView struct {
	alloc.Node
	Self    bool
	Workers []snowflake.Worker
	Left    time.Duration // of the windows; negative: there are none
	Skew    string        // of this node's clock; of others it is not known here
}

// Up is for how long the node has run.
func (n nodeView) Up() time.Duration { return time.Since(n.Started) }

type decoded struct {
	ID    string
	Parts snowflake.Parts
	Err   error
}

func (s *Server) dashboard(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	if err := who.May("info"); err != nil {
		return err
	}
	return s.showDashboard(w, r, who, http.StatusOK, createForm{})
}

func (s *Server) showDashboard(w http.ResponseWriter, r *http.Request, who server.Caller, status int, form createForm) error {
	query := r.URL.Query()
	d := dashboard{
		Ready: s.readiness(), Now: time.Now(), Rates: viewRates(s.sampler.rates()), Redis: s.cfg.Redis.Metrics(), Store: s.cfg.Redis.Store(),
		Create: form,
	}
	d.Nodes = s.nodes(r, d.Store.Nodes)
	if a := s.cfg.Segments; a != nil {
		d.Segments = &segmentView{Totals: a.Totals(), MayList: who.May("scan", "0") == nil}
		if d.Segments.MayList {
			d.Segments.List = s.findTags(r.Context(), who, queryOf(query, dashboardTags))
		}
		d.Create.May = who.MayAdmin() == nil && who.May("set", s.cfg.Redis.SegmentKey("a"), "0") == nil
	}
	if n := s.cfg.Snowflakes; n != nil {
		d.Snowflake = viewFlakes(n, d.Now)
	}
	if text := strings.TrimSpace(query.Get("id")); text != "" {
		d.Decoded.ID = text
		d.Decoded.Parts, d.Decoded.Err = decodeID(s.cfg.Layout, text)
	}
	return s.show(w, status, "dashboard", frame{Title: "Dashboard", Place: "dashboard", Refresh: status == http.StatusOK, User: userName(r, who), Body: d})
}

// queryOf reads which tags a page is to show.
func queryOf(query url.Values, size int) tagQuery {
	page, _ := strconv.Atoi(query.Get("page")) // what is no number is the first page
	return tagQuery{Search: strings.TrimSpace(query.Get("q")), Sort: query.Get("sort"), Page: max(1, page), Size: size}
}

// Link is the dashboard's address with other search words, order, or page.
func (q tagQuery) Link(sort string, page int) string {
	v := url.Values{}
	if q.Search != "" {
		v.Set("q", q.Search)
	}
	if sort != "" {
		v.Set("sort", sort)
	}
	if page > 1 {
		v.Set("page", strconv.Itoa(page))
	}
	return "?" + v.Encode()
}

// Prev and Next are the pages beside this one.
func (l tagList) Prev() int { return l.Page - 1 }

// Next is the page behind this one.
func (l tagList) Next() int { return l.Page + 1 }

func viewRates(r rates) rateView {
	v := rateView{IDs: r.segment + r.snowflake, Segment: r.segment, Snowflake: r.snowflake, Commands: r.commands}
	v.Peak = slices.Max(append(r.history, 1))
	var line strings.Builder
	for i, ids := range r.history {
		fmt.Fprintf(&line, "%d,%.1f ", historySize-len(r.history)+i, 29-28*ids/v.Peak)
	}
	v.Line = line.String()
	return v
}

func viewFlakes(n *snowflake.Node, now time.Time) *flakeView {
	st, l := n.Status(), n.Layout()
	return &flakeView{
		Status: st, Layout: l, Left: windowLeft(st, now),
		End: time.UnixMilli(l.MaxTime()), LeftAll: seconds(float64(l.MaxTime()-now.UnixMilli()) / 1000),
	}
}

// nodes shows the nodes of the store with what they hold, this one first.
func (s *Server) nodes(r *http.Request, nodes []alloc.Node) []nodeView {
	workers := s.workers.byOwner(r.Context(), s.cfg.Workers, s.cfg.Layout)
	now := time.Now()
	var all []nodeView
	for _, n := range nodes {
		v := nodeView{Node: n, Self: n.ID == s.cfg.NodeID, Workers: workers[n.ID], Left: -1}
		for _, w := range v.Workers {
			v.Left = max(v.Left, time.UnixMilli(w.Until).Sub(now))
		}
		if v.Self && s.cfg.Snowflakes != nil {
			v.Skew = fmt.Sprintf("%+d ms", s.cfg.Snowflakes.Status().Skew.Milliseconds())
		}
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b nodeView) int {
		rank := func(v nodeView) int {
			switch {
			case v.Self:
				return 0
			case v.Live:
				return 1
			}
			return 2
		}
		return cmp.Compare(rank(a), rank(b))
	})
	return all
}
