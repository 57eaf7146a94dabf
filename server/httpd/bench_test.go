package httpd

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"
)

// The sampler is all that runs when nobody looks: once a second, over the tags in use.
func BenchmarkSample(b *testing.B) {
	for _, tags := range []int{100, 10_000} {
		b.Run(fmt.Sprint(tags), func(b *testing.B) {
			s := newSite(b, func(c *setup) { c.alloc.AutoCreate = true }).byHand()
			s.useTags(b, tags)
			now := time.Now()
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(time.Second)
				s.sampler.sample(now)
			}
		})
	}
}

// One scrape, one dashboard, one id.
func BenchmarkRequest(b *testing.B) {
	for _, path := range []string{"/metrics", "/", "/api/segment/get/orders", "/api/snowflake/get/x"} {
		b.Run(path, func(b *testing.B) {
			s := newSite(b, func(c *setup) { c.alloc.AutoCreate = true })
			s.useTags(b, 10_000)
			r := request("GET", path)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				s.Handler().ServeHTTP(w, r)
				if w.Code != 200 {
					b.Fatal(w.Body.String())
				}
			}
		})
	}
}

func (s *site) useTags(b *testing.B, n int) {
	for i := range n {
		if err := s.segments.Draw(b.Context(), fmt.Sprintf("tag-%05d", i), 1, func(int64, int64) {}); err != nil {
			b.Fatal(err)
		}
	}
}
