package server

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"syscall"
	"time"
)

// section is one part of INFO.
type section struct {
	name  string
	write func(*Server, *strings.Builder)
}

// sections lists INFO's parts in Redis's order, ours last.
func sections() []section {
	return []section{
		{"server", (*Server).infoServer},
		{"clients", (*Server).infoClients},
		{"memory", (*Server).infoMemory},
		{"persistence", (*Server).infoPersistence},
		{"stats", (*Server).infoStats},
		{"replication", (*Server).infoReplication},
		{"cpu", (*Server).infoCPU},
		{"commandstats", (*Server).infoCommandstats},
		{"errorstats", (*Server).infoErrorstats},
		{"cluster", (*Server).infoCluster},
		{"keyspace", (*Server).infoKeyspace},
		{"redleaf", (*Server).infoRedleaf},
	}
}

// info is INFO [section...]. Unknown sections are empty.
func (c *client) info(args [][]byte) error {
	wanted := map[string]bool{}
	for _, arg := range args[1:] {
		wanted[strings.ToLower(string(arg))] = true
	}
	all := wanted["all"] || wanted["everything"]
	usual := len(args) == 1 || wanted["default"]
	var b strings.Builder
	for _, s := range sections() {
		if asked := all || wanted[s.name] || usual && s.name != "commandstats"; !asked {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		fmt.Fprintf(&b, "# %s%s\r\n", strings.ToUpper(s.name[:1]), s.name[1:])
		s.write(c.s, &b)
	}
	c.text(b.String())
	return nil
}

func line(b *strings.Builder, name string, value any) { fmt.Fprintf(b, "%s:%v\r\n", name, value) }

func (s *Server) infoServer(b *strings.Builder) {
	up := time.Since(s.started)
	_, port := s.listening()
	line(b, "redis_version", redisVersion)
	line(b, "redleaf_version", s.cfg.Version)
	line(b, "redis_mode", s.mode())
	line(b, "os", runtime.GOOS+" "+runtime.GOARCH)
	line(b, "arch_bits", 64)
	line(b, "process_id", os.Getpid())
	line(b, "run_id", s.cfg.NodeID)
	line(b, "tcp_port", port)
	line(b, "server_time_usec", time.Now().UnixMicro())
	line(b, "uptime_in_seconds", int64(up.Seconds()))
	line(b, "uptime_in_days", int64(up.Hours()/24))
}

func (s *Server) infoClients(b *strings.Builder) {
	line(b, "connected_clients", s.connected())
	line(b, "maxclients", s.maxClients.Load())
	line(b, "pubsub_clients", s.subscribers())
	line(b, "blocked_clients", 0)
}

func (s *Server) infoMemory(b *strings.Builder) {
	used := memoryInUse()
	line(b, "used_memory", used)
	line(b, "used_memory_human", fmt.Sprintf("%.2fM", float64(used)/(1<<20)))
	line(b, "used_memory_large_requests_and_replies", s.memory.used.Load())
	line(b, "used_memory_rss", residentMemory(used))
	line(b, "used_memory_peak", s.peak(used))
	line(b, "maxmemory", 0)
	line(b, "mem_fragmentation_ratio", 1)
	line(b, "maxmemory_policy", "noeviction")
}

// subscribers returns how many clients listen to channels.
func (s *Server) subscribers() (n int) {
	for _, c := range s.all() {
		if c.isType(true, false) {
			n++
		}
	}
	return n
}

// memoryInUse returns the bytes that the Go runtime holds and has not returned to the system.
func memoryInUse() uint64 {
	m := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(m)
	return m[0].Value.Uint64() - m[1].Value.Uint64()
}

// residentMemory returns the bytes that the process has in memory, where Linux tells; else the bytes in use.
func residentMemory(used uint64) uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	var size, resident uint64
	if err != nil {
		return used
	}
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return used
	}
	return resident * uint64(os.Getpagesize())
}

// peak returns the most memory that was in use whenever INFO was asked.
func (s *Server) peak(used uint64) uint64 {
	for {
		old := s.peakMemory.Load()
		if used <= old {
			return old
		}
		if s.peakMemory.CompareAndSwap(old, used) {
			return used
		}
	}
}

func (s *Server) infoPersistence(b *strings.Builder) {
	line(b, "loading", 0)
	line(b, "rdb_changes_since_last_save", 0)
	line(b, "rdb_bgsave_in_progress", 0)
	line(b, "rdb_last_bgsave_status", "ok")
	line(b, "aof_enabled", 0)
}

func (s *Server) infoStats(b *strings.Builder) {
	line(b, "total_connections_received", s.stats.connections.Load())
	line(b, "total_commands_processed", s.stats.commands.Load())
	line(b, "instantaneous_ops_per_sec", s.stats.rate.perSecond.Load())
	line(b, "total_net_input_bytes", s.stats.bytesIn.Load())
	line(b, "total_net_output_bytes", s.stats.bytesOut.Load())
	line(b, "rejected_connections", s.stats.rejected.Load())
	line(b, "total_error_replies", s.stats.errors.total())
	line(b, "connection_panics", s.stats.panics.Load())
}

func (s *Server) infoReplication(b *strings.Builder) {
	line(b, "role", "master")
	line(b, "connected_slaves", 0)
	line(b, "master_failover_state", "no-failover")
	line(b, "master_repl_offset", 0)
}

func (s *Server) infoCPU(b *strings.Builder) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return
	}
	line(b, "used_cpu_sys", fmt.Sprintf("%d.%06d", u.Stime.Sec, u.Stime.Usec))
	line(b, "used_cpu_user", fmt.Sprintf("%d.%06d", u.Utime.Sec, u.Utime.Usec))
}

func (s *Server) infoCommandstats(b *strings.Builder) {
	for _, name := range s.names() {
		st := &s.stats.byCommand[s.commands[name].index]
		calls, us := st.calls.Load(), st.nanos.Load()/1000
		rejected, failed := st.rejected.Load(), st.failed.Load()
		if calls+rejected == 0 {
			continue
		}
		per := 0.0
		if calls > 0 {
			per = float64(st.nanos.Load()) / 1000 / float64(calls)
		}
		line(b, "cmdstat_"+name, fmt.Sprintf("calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d", calls, us, per, rejected, failed))
	}
}

func (s *Server) infoErrorstats(b *strings.Builder) {
	for _, l := range s.stats.errors.lines() {
		b.WriteString(l)
	}
}

func (s *Server) infoCluster(b *strings.Builder) {
	enabled := 0
	if s.cfg.Cluster {
		enabled = 1
	}
	line(b, "cluster_enabled", enabled)
}

func (s *Server) infoKeyspace(b *strings.Builder) {
	if n := s.snapshot().tags; n > 0 {
		line(b, "db0", fmt.Sprintf("keys=%d,expires=0,avg_ttl=0", n))
	}
}

func (s *Server) infoRedleaf(b *strings.Builder) {
	line(b, "node_id", s.cfg.NodeID)
	line(b, "advertise", s.cfg.Advertise)
	line(b, "store", s.cfg.StoreName)
	s.infoSegments(b)
	s.infoSnowflakes(b)
	shared := s.snapshot()
	state := "ok"
	if shared.err != nil {
		state = oneLine(shared.err)
	}
	line(b, "store_state", state)
	for i, n := range shared.nodes {
		up := "dead"
		if n.Live {
			up = "live"
		}
		line(b, fmt.Sprintf("node%d", i), fmt.Sprintf("id=%s,addr=%s,state=%s,version=%s", n.ID, n.Addr, up, n.Version))
	}
}

func (s *Server) infoSegments(b *strings.Builder) {
	if s.cfg.Segments == nil {
		line(b, "segment_mode", "off")
		return
	}
	t := s.cfg.Segments.Totals()
	line(b, "segment_mode", "on")
	line(b, "segment_tags", s.snapshot().tags)
	line(b, "segment_tags_in_use", t.Tags)
	line(b, "segment_strict_tags_held", len(s.cfg.Segments.Held()))
	line(b, "segment_ids_issued", t.Issued)
	line(b, "segment_refills", t.Refills)
	line(b, "segment_refill_failures", t.Failures)
	line(b, "segment_waits", t.Waits)
	line(b, "segment_went_backwards", t.Backwards)
}

func (s *Server) infoSnowflakes(b *strings.Builder) {
	if s.cfg.Snowflakes == nil {
		line(b, "snowflake_mode", "off")
		return
	}
	st := s.cfg.Snowflakes.Status()
	l := s.cfg.Snowflakes.Layout()
	line(b, "snowflake_mode", "on")
	line(b, "snowflake_layout", fmt.Sprintf("bits=%s epoch=%d", l.Bits(), l.Epoch))
	line(b, "snowflake_ids_issued", st.Issued)
	line(b, "snowflake_clock_skew_ms", st.Skew.Milliseconds())
	line(b, "snowflake_clock_steps_back", st.StepsBack)
	line(b, "snowflake_windows_claimed", st.Claims)
	line(b, "snowflake_windows_extended", st.Extends)
	line(b, "snowflake_windows_lost", st.Lost)
	for i, w := range st.Workers {
		line(b, fmt.Sprintf("snowflake_worker%d", i), fmt.Sprintf("id=%d,window_left_ms=%d", w.ID, time.Until(w.Until).Milliseconds()))
	}
	state := "ok"
	if st.Err != nil {
		state = oneLine(st.Err)
	}
	line(b, "snowflake_window_state", state)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
