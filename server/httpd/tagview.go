package httpd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"redleaf/alloc"
	"redleaf/server"
)

// tagView is what pages show of a tag.
type tagView struct {
	alloc.Live
	InUse bool // on this node; else only the row is known
	Rate  float64
}

func (t tagView) Tag() string { return t.Row.Tag }

// LeasedTo is the last id that any node has leased, as far as is known here.
func (t tagView) LeasedTo() int64 { return t.Row.MaxID - 1 }

// Trend says where the step goes: 1, -1, or 0.
func (t tagView) Trend() int {
	if t.Step == 0 {
		return 0
	}
	return cmp.Compare(t.NextStep, t.Step)
}

// Behind is how many percent of a segment's size stand ready behind the current one, at most 100.
func (t tagView) Behind() int64 { return percent(t.Next, t.Step) }

// Ahead is how many percent of the current segment are left.
func (t tagView) Ahead() int64 { return percent(t.Left, t.Size) }

func percent(part, whole int64) int64 {
	if whole <= 0 || part <= 0 {
		return 0
	}
	return max(1, min(100, int64(float64(part)/float64(whole)*100)))
}

// Lasts is for how long the ids at hand last at the present rate; negative: nobody draws.
func (t tagView) Lasts() time.Duration {
	if t.Rate <= 0 {
		return -1
	}
	return seconds(float64(t.Left+t.Next) / t.Rate)
}

// Problem is what is wrong with the tag, if anything.
func (t tagView) Problem() string {
	if _, held := errors.AsType[*alloc.HeldError](t.Err); t.Err == nil || held {
		return ""
	}
	return t.Err.Error()
}

// tagQuery is which tags a page shows.
type tagQuery struct {
	Search string
	Sort   string
	Page   int // from 1
	Size   int // 0: all
}

// tagList is the tags that a query found.
type tagList struct {
	tagQuery
	Tags   []tagView // of the page
	Found  int
	All    int
	Pages  int
	Whole  bool      // no tags beyond the bound of the catalog
	ReadAt time.Time // when the rows were read
	Err    error     // why they could not be read again
}

// findTags returns the tags that the caller may look at: the store's rows, with the live state of those in use here.
func (s *Server) findTags(ctx context.Context, who server.Caller, q tagQuery) tagList {
	rows := s.catalog.list(ctx, s.cfg.Segments)
	list := s.selectTags(who, q, s.merge(rows.rows))
	list.Whole, list.ReadAt, list.Err = rows.whole || rows.at.IsZero(), rows.at, rows.err
	return list
}

// findLive returns the tags in use on this node that the caller may look at. The store is not asked.
func (s *Server) findLive(who server.Caller, q tagQuery) tagList {
	list := s.selectTags(who, q, s.merge(nil))
	list.Whole = true
	return list
}

// selectTags returns those that the caller may look at and that the query asks for. It takes all over.
func (s *Server) selectTags(who server.Caller, q tagQuery, all []tagView) tagList {
	if !who.Unlimited() {
		all = slices.DeleteFunc(all, func(t tagView) bool { return who.May("hgetall", s.cfg.Redis.SegmentKey(t.Tag())) != nil })
	}
	list := tagList{tagQuery: q, All: len(all), Pages: 1}
	if q.Search != "" {
		all = slices.DeleteFunc(all, func(t tagView) bool { return !t.matches(q.Search) })
	}
	sortTags(all, q.Sort)
	list.Found = len(all)
	if q.Size > 0 {
		list.Pages = max(1, (len(all)+q.Size-1)/q.Size)
		list.Page = min(q.Page, list.Pages)
		from := (list.Page - 1) * q.Size
		all = all[from:min(from+q.Size, len(all))]
	}
	list.Tags = all
	return list
}

// merge puts rows and live state together, by tag.
func (s *Server) merge(rows []alloc.Row) []tagView {
	rates := s.sampler.rates().tags
	live := map[string]tagView{}
	for l := range s.cfg.Segments.Live() {
		live[l.Row.Tag] = tagView{l, true, rates[l.Row.Tag]}
	}
	all := make([]tagView, 0, max(len(rows), len(live)))
	for _, row := range rows {
		t, inUse := live[row.Tag]
		if !inUse {
			t = tagView{Live: alloc.Live{Status: alloc.Status{Row: row, NextStep: row.Step}}}
		}
		delete(live, row.Tag)
		all = append(all, t)
	}
	for _, t := range live { // too new for the catalog
		all = append(all, t)
	}
	return all
}

// matches reports whether the tag or its description has the text in it, in any case.
func (t tagView) matches(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(strings.ToLower(t.Tag()), text) || strings.Contains(strings.ToLower(t.Row.Description), text)
}

// sortTags sorts by tag, or first by what is most or most urgent.
func sortTags(all []tagView, by string) {
	first := func(a, b tagView) int { return 0 }
	switch by {
	case "rate":
		first = func(a, b tagView) int { return cmp.Compare(b.Rate, a.Rate) }
	case "left":
		first = func(a, b tagView) int { return cmp.Compare(uint64(a.Lasts()), uint64(b.Lasts())) } // idle ones last
	case "step":
		first = func(a, b tagView) int { return cmp.Compare(b.NextStep, a.NextStep) }
	case "id":
		first = func(a, b tagView) int { return cmp.Compare(b.Row.MaxID, a.Row.MaxID) }
	case "problem":
		first = func(a, b tagView) int { return -strings.Compare(a.Problem(), b.Problem()) }
	}
	slices.SortFunc(all, func(a, b tagView) int { return cmp.Or(first(a, b), strings.Compare(a.Tag(), b.Tag())) })
}
