package httpd

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// traffic counts HTTP requests.
type traffic struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	refused  prometheus.Counter
}

func newTraffic() *traffic {
	return &traffic{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "redleaf_http_requests_total", Help: "HTTP requests answered.",
		}, []string{"handler", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "redleaf_http_request_duration_seconds", Help: "Time to answer HTTP requests.",
			Buckets: prometheus.ExponentialBuckets(0.00001, 4, 10),
		}, []string{"handler"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "redleaf_http_connections_refused_total", Help: "HTTP connections closed because there were too many.",
		}),
	}
}

func (t *traffic) register(r *prometheus.Registry) { r.MustRegister(t.requests, t.duration, t.refused) }

// counting counts what the handler of this name answers.
func (t *traffic) counting(name string, next http.HandlerFunc) http.HandlerFunc {
	took := t.duration.WithLabelValues(name)
	fine := t.requests.WithLabelValues(name, "200")
	return func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next(seen, r)
		took.Observe(time.Since(begun).Seconds())
		if seen.status == http.StatusOK {
			fine.Inc()
		} else {
			t.requests.WithLabelValues(name, strconv.Itoa(seen.status)).Inc()
		}
	}
}

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Leases observes the store's leases of segments, for metrics. Safe for concurrent use.
type Leases struct {
	took   prometheus.Histogram
	failed prometheus.Counter
}

// NewLeases returns an observer: its Observe is for alloc.Observed, and it itself for Config.
func NewLeases() *Leases {
	return &Leases{
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "redleaf_segment_lease_duration_seconds", Help: "Time that the store took to lease a segment.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 2, 15),
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "redleaf_segment_lease_failures_total", Help: "Leases of segments that failed.",
		}),
	}
}

// Observe notes how long a lease took, and how it ended.
func (l *Leases) Observe(took time.Duration, err error) {
	l.took.Observe(took.Seconds())
	if err != nil {
		l.failed.Inc()
	}
}
