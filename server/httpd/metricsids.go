package httpd

import (
	"math"
	"strconv"
	"time"

	"redleaf/alloc"
)

// segments is what the allocator counts.
func (c collector) segments(m sink) {
	a := c.s.cfg.Segments
	if a == nil {
		return
	}
	t := a.Totals()
	m.counter("ids_issued_total", "Ids drawn.", t.Issued, labels{"kind", "segment"})
	m.gauge("segment_tags", "Tags in use on this node.", float64(t.Tags))
	m.counter("segment_refills_total", "Segments leased ahead.", t.Refills)
	m.counter("segment_refill_failures_total", "Store calls for segments that failed.", t.Failures)
	m.counter("segment_waits_total", "Calls that had to wait for a segment.", t.Waits)
	m.counter("segment_went_backwards_total", "Times that the store was seen to have gone backwards.", t.Backwards)
	c.tags(m, a)
}

// tags adds the tags up, and shows the busiest one by one.
func (c collector) tags(m sink, a *alloc.Allocator) {
	s := c.s.sampler
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting, stopped := int64(0), 0
	left, end := math.Inf(1), math.Inf(1)
	for l := range a.Live() {
		waiting += l.Waiting
		if l.Stopped {
			stopped++
		}
		if t := s.tags[l.Row.Tag]; t != nil && t.perSecond > 0 {
			left = min(left, float64(l.Left+l.Next)/t.perSecond)
			end = min(end, float64(math.MaxInt64-l.Row.MaxID)/t.perSecond)
		}
		if s.top.has(l.Row.Tag) {
			tagMetrics(m, l)
		}
	}
	m.counter("segment_other_tags_ids_issued_total", "Ids drawn of tags while they had no metrics of their own.", s.top.other)
	m.gauge("segment_waiting_calls", "Calls that wait for a segment now.", float64(waiting))
	m.gauge("segment_tags_stopped", "Tags that are stopped because the store went backwards.", float64(stopped))
	m.gauge("segment_left_seconds", "How long the ids at hand last without the store at the present rate: the least of all tags.", left)
	m.gauge("segment_exhaustion_seconds", "After how long the first tag is at the end of its 63 bits at the present rate.", end)
}

func tagMetrics(m sink, l alloc.Live) {
	tag := labels{"tag", l.Row.Tag}
	m.counter("segment_tag_ids_issued_total", "Ids drawn of a tag; the busiest tags only.", l.Issued, tag)
	m.counter("segment_tag_refills_total", "Segments leased ahead for a tag.", l.Refills, tag)
	m.counter("segment_tag_waits_total", "Calls that had to wait for a segment of a tag.", l.Waits, tag)
	m.gauge("segment_tag_ids_left", "Ids of a tag at hand on this node.", float64(l.Left+l.Next), tag)
	m.gauge("segment_tag_step", "Ids that the next refill of a tag leases.", float64(l.NextStep), tag)
}

// snowflakes is what the node counts.
func (c collector) snowflakes(m sink) {
	n := c.s.cfg.Snowflakes
	if n == nil {
		return
	}
	st, now := n.Status(), time.Now()
	m.counter("ids_issued_total", "Ids drawn.", st.Issued, labels{"kind", "snowflake"})
	m.gauge("snowflake_window_left_seconds", "How long snowflake ids go on without the store.", windowLeft(st, now).Seconds())
	workers := map[int]time.Time{}
	for _, w := range st.Workers {
		if w.Until.After(workers[w.ID]) {
			workers[w.ID] = w.Until
		}
	}
	for id, until := range workers {
		m.gauge("snowflake_worker_window_left_seconds", "How long a worker id is this node's.", until.Sub(now).Seconds(), labels{"worker", strconv.Itoa(id)})
	}
	m.gauge("snowflake_workers", "Worker ids that this node holds.", float64(len(workers)))
	m.gauge("snowflake_clock_skew_seconds", "This node's time less the database's, when last compared.", st.Skew.Seconds())
	m.counter("snowflake_clock_steps_back_total", "Times that this machine's clock was seen to step back.", st.StepsBack)
	m.counter("snowflake_clock_skewed_total", "Times that this machine's clock and the database's were too far apart.", st.Skewed)
	m.counter("snowflake_windows_claimed_total", "Worker ids claimed.", st.Claims)
	m.counter("snowflake_windows_extended_total", "Worker windows extended.", st.Extends)
	m.counter("snowflake_windows_lost_total", "Worker windows given up.", st.Lost)
	m.gauge("snowflake_exhaustion_seconds", "After how long the time bits are used up.", float64(n.Layout().MaxTime()-now.UnixMilli())/1000)
}
