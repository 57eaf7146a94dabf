package httpd

import (
	"net/http"
	"runtime"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"redleaf/server"
)

// scrapes is how many scrapes are answered at a time.
const scrapes = 4

// newRegistry returns everything that /metrics shows but traffic.
func newRegistry(s *Server) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		s.cfg.Leases.took, s.cfg.Leases.failed,
		collector{s},
	)
	return r
}

func newExposition(r *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: scrapes, ErrorHandling: promhttp.HTTPErrorOnError})
}

// metrics is /metrics, for those who may see INFO.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	if err := who.May("info"); err != nil {
		return err
	}
	s.exposition.ServeHTTP(w, r)
	return nil
}

// collector reads the counters that the servers keep anyway, at each scrape.
type collector struct{ s *Server }

// Describe implements prometheus.Collector: what is there depends on the moment.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	m := sink{out}
	m.gauge("build_info", "What runs.", 1, labels{"version", c.s.cfg.Version, "goversion", runtime.Version()})
	c.redis(m)
	c.store(m)
	c.segments(m)
	c.snowflakes(m)
}

// labels are names and values in turn.
type labels []string

// sink makes metrics of numbers.
type sink struct{ out chan<- prometheus.Metric }

func (m sink) desc(name, help string, l []labels) (*prometheus.Desc, []string) {
	var names, values []string
	if len(l) > 0 {
		for i := 0; i < len(l[0]); i += 2 {
			names, values = append(names, l[0][i]), append(values, strings.ToValidUTF8(l[0][i+1], "\uFFFD"))
		}
	}
	return prometheus.NewDesc("redleaf_"+name, help, names, nil), values
}

func (m sink) gauge(name, help string, v float64, l ...labels) {
	d, values := m.desc(name, help, l)
	m.out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, values...)
}

func (m sink) counter(name, help string, v int64, l ...labels) {
	d, values := m.desc(name, help, l)
	m.out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), values...)
}

// histogram makes one of counts by upper bound; the last has none.
func (m sink) histogram(name, help string, sum float64, bounds []float64, counts []int64, l ...labels) {
	cumulative, n := map[float64]uint64{}, uint64(0)
	for i, k := range counts {
		n += uint64(k)
		if i < len(counts)-1 {
			cumulative[bounds[i]] = n
		}
	}
	d, values := m.desc(name, help, l)
	m.out <- prometheus.MustNewConstHistogram(d, n, sum, cumulative, values...)
}

// redis is what the Redis port counts.
func (c collector) redis(m sink) {
	st := c.s.cfg.Redis.Metrics()
	m.gauge("connections", "Connections of the Redis port.", float64(st.Connected))
	m.gauge("connections_limit", "Most connections of the Redis port at a time.", float64(st.MaxClients))
	m.counter("connections_accepted_total", "Connections that came to the Redis port.", st.Connections)
	m.counter("connections_rejected_total", "Connections turned away by the limit or by protected mode.", st.Rejected)
	m.counter("received_bytes_total", "Bytes received on the Redis port.", st.BytesIn)
	m.counter("sent_bytes_total", "Bytes sent on the Redis port.", st.BytesOut)
	m.counter("connection_panics_total", "Connections that a fault of redleaf ended.", st.Panics)
	m.gauge("large_requests_and_replies_bytes", "Memory held for large requests, replies and transactions.", float64(st.LargeRequestsAndReplies))
	for word, n := range st.Errors {
		m.counter("error_replies_total", "Error replies by their first word.", n, labels{"code", word})
	}
	for _, cmd := range st.ByCommand {
		c.command(m, cmd)
	}
	bounds := make([]float64, len(st.Depths))
	for i := range bounds {
		bounds[i] = float64(int64(1) << i)
	}
	m.histogram("pipeline_depth", "Commands received at a time.", float64(st.Commands), bounds, st.Depths)
}

func (c collector) command(m sink, cmd server.CommandMetrics) {
	name := labels{"command", cmd.Name}
	m.counter("commands_total", "Commands executed.", cmd.Calls, name)
	m.counter("command_failures_total", "Commands that replied with an error.", cmd.Failed, name)
	m.counter("command_refusals_total", "Commands refused before they ran.", cmd.Rejected, name)
	// Every second power of two is enough, from 1 microsecond to 17 seconds.
	var bounds []float64
	var counts []int64
	for i := 0; i <= 24; i += 2 {
		n := cmd.Took[i]
		if i > 0 {
			n += cmd.Took[i-1]
		}
		bounds, counts = append(bounds, cmd.AtMost[i].Seconds()), append(counts, n)
	}
	rest := int64(0)
	for _, n := range cmd.Took[25:] {
		rest += n
	}
	m.histogram("command_duration_seconds", "Time of commands; those of one pipeline share its time equally.", cmd.Total.Seconds(), bounds, append(counts, rest), name)
}

// store is how the database is doing.
func (c collector) store(m sink) {
	st := c.s.cfg.Redis.Store()
	up, live := 0.0, 0
	if st.Err == nil {
		up = 1
	}
	for _, n := range st.Nodes {
		if n.Live {
			live++
		}
	}
	m.gauge("store_up", "Whether the store answers.", up)
	m.gauge("store_tags", "Segment tags in the store.", float64(st.Tags))
	m.gauge("nodes_live", "Nodes of this store that are alive.", float64(live))
}
