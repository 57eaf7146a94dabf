package httpd

import (
	"context"
	"math"
	"sync"
	"time"

	"redleaf/alloc"
	"redleaf/server"
	"redleaf/snowflake"
)

const (
	sampleEvery  = time.Second
	rateMemory   = 5 * time.Second // over which rates are smoothed
	historySize  = 120             // samples that the dashboard draws
	samplingPart = 100             // sampling may take one part in so many of the time
)

// sampler measures rates by reading the counters once a second: nothing is counted for it where ids are drawn. Safe for
// concurrent use.
type sampler struct {
	segments   *alloc.Allocator
	snowflakes *snowflake.Node
	redis      *server.Server

	mu       sync.Mutex // protects everything below
	at       time.Time  // of the last sample; zero: there was none
	tags     map[string]*tagRate
	segment  rate
	flake    rate
	commands rate
	history  []float64 // ids a second, the latest last
	top      topTags
	round    int64
}

// rate is a counter's last value and how fast it rises.
type rate struct {
	last      int64
	perSecond float64
	known     bool // there were two samples
}

// tagRate is the rate of one tag.
type tagRate struct {
	rate
	round int64 // of sampling that saw it last
}

func newSampler(c Config) *sampler {
	return &sampler{segments: c.Segments, snowflakes: c.Snowflakes, redis: c.Redis, tags: map[string]*tagRate{}, top: newTopTags(c.MaxTags)}
}

// run samples until ctx is done.
func (s *sampler) run(ctx context.Context) {
	for {
		begun := time.Now()
		s.sample(begun)
		pause := max(sampleEvery, samplingPart*time.Since(begun))
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (s *sampler) sample(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	elapsed := time.Duration(0)
	if !s.at.IsZero() {
		elapsed = now.Sub(s.at)
	}
	s.at = now
	s.commands.add(s.redis.Metrics().Commands, elapsed)
	if s.segments != nil {
		s.segment.add(s.sampleTags(elapsed), elapsed)
	}
	if s.snowflakes != nil {
		s.flake.add(s.snowflakes.Status().Issued, elapsed)
	}
	if len(s.history) == historySize {
		s.history = append(s.history[:0], s.history[1:]...)
	}
	s.history = append(s.history, s.segment.perSecond+s.flake.perSecond)
}

// sampleTags takes the tags in use in, forgets the others, and returns how many ids were drawn of all.
func (s *sampler) sampleTags(elapsed time.Duration) (issued int64) {
	s.round++
	for l := range s.segments.Live() {
		t := s.tags[l.Row.Tag]
		if t == nil {
			t = &tagRate{}
			if elapsed > 0 { // it is new, and so were all its ids
				t.known = true
			}
			s.tags[l.Row.Tag] = t
		}
		drawn := l.Issued - t.last
		t.add(l.Issued, elapsed)
		t.round = s.round
		s.top.saw(l.Row.Tag, l.Issued, drawn)
		issued += l.Issued
	}
	for tag, t := range s.tags {
		if t.round != s.round {
			delete(s.tags, tag)
			s.top.forget(tag)
		}
	}
	s.top.swap()
	return issued
}

// add takes a counter's value in. The first has no rate yet; a lower one is a counter that began anew.
func (r *rate) add(value int64, elapsed time.Duration) {
	rise := float64(max(0, value-r.last))
	r.last = value
	if elapsed <= 0 {
		return
	}
	now := rise / elapsed.Seconds()
	if !r.known {
		r.known, r.perSecond = true, now
		return
	}
	r.perSecond += (now - r.perSecond) * (1 - math.Exp(-float64(elapsed)/float64(rateMemory)))
	if r.perSecond < 0.01 {
		r.perSecond = 0
	}
}

// of returns the tag's ids a second.
func (s *sampler) of(tag string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tags[tag]; t != nil {
		return t.perSecond
	}
	return 0
}

// rates are what the dashboard shows.
type rates struct {
	segment, snowflake, commands float64
	history                      []float64
	tags                         map[string]float64 // those with any
}

func (s *sampler) rates() rates {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := rates{s.segment.perSecond, s.flake.perSecond, s.commands.perSecond, append([]float64(nil), s.history...), map[string]float64{}}
	for tag, t := range s.tags {
		if t.perSecond > 0 {
			r.tags[tag] = t.perSecond
		}
	}
	return r
}
