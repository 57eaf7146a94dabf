package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redleaf/alloc"
)

func TestClientListAndKill(t *testing.T) {
	s := newTestServer(t)
	a, b, c := dial(t, "tcp", s.addr), dial(t, "tcp", s.addr), dial(t, "tcp", s.addr)
	a.do("CLIENT SETNAME a")
	b.do("CLIENT SETNAME b")
	b.do("HELLO 3")
	c.do("SUBSCRIBE news")
	waitFor(t, func() bool { return s.subscribers() == 1 })
	got := a.do("CLIENT LIST")
	for _, want := range []string{
		`(?m)^id=1 addr=127\.0\.0\.1:\d+ laddr=127\.0\.0\.1:\d+ fd=0 name=a age=\d+ idle=\d+ flags=N db=0 sub=0 .* cmd=client\|list user=default redir=-1 resp=2`,
		`(?m)^id=2 .* name=b .* cmd=hello .* resp=3`,
		`(?m)^id=3 .* flags=P .* sub=1 .* cmd=subscribe`,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("CLIENT LIST lacks %s:\n%s", want, got)
		}
	}
	if got := a.do("CLIENT LIST TYPE pubsub"); strings.Count(got, "id=") != 1 || !strings.Contains(got, "id=3 ") {
		t.Errorf("CLIENT LIST TYPE pubsub: %s", got)
	}
	if got := a.do("CLIENT KILL TYPE pubsub"); got != ":1\r\n" {
		t.Errorf("CLIENT KILL TYPE pubsub: %q", got)
	}
	if got := c.rest(); got != "" {
		t.Errorf("the killed client got %q", got)
	}
	if got := a.do("CLIENT KILL " + b.conn.LocalAddr().String()); got != "+OK\r\n" {
		t.Errorf("CLIENT KILL addr: %q", got)
	}
	b.rest()
	a.send(inlined("CLIENT KILL ID 1 SKIPME no") + inlined("PING"))
	if got := a.rest(); got != ":1\r\n" {
		t.Errorf("killing oneself: %q", got)
	}
}

// slowStore takes its time over a lease.
type slowStore struct {
	alloc.Store
	delay time.Duration
}

func (s *slowStore) Lease(ctx context.Context, tag string, n int64) (alloc.Range, error) {
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
	}
	return s.Store.Lease(ctx, tag, n)
}

// A command that waited for the store is in the slow log and in the latency monitor; fast ones are not, unless asked for.
func TestSlowlogAndLatency(t *testing.T) {
	segments := alloc.New(&slowStore{alloc.NewMemStore(), 30 * time.Millisecond}, alloc.Config{AutoCreate: true})
	defer segments.Close(context.Background())
	s := newTestServer(t, func(c *Config) { c.Segments = segments })
	k := dial(t, "tcp", s.addr)
	k.do("CONFIG SET latency-monitor-threshold 5")
	k.do("CLIENT SETNAME me")
	k.do("INCR segment:slow")
	k.do("INCR segment:slow")
	got := k.do("SLOWLOG GET")
	m := regexp.MustCompile(`^\*1\r\n\*6\r\n:0\r\n:\d+\r\n:(\d+)\r\n\*2\r\n\$4\r\nINCR\r\n\$12\r\nsegment:slow\r\n\$\d+\r\n127\.0\.0\.1:\d+\r\n\$2\r\nme\r\n$`).FindStringSubmatch(got)
	if m == nil {
		t.Fatalf("SLOWLOG GET: %q", got)
	}
	if us, _ := strconv.Atoi(m[1]); us < 30_000 {
		t.Errorf("it took %d microseconds", us)
	}
	if got := k.do("LATENCY LATEST"); !regexp.MustCompile(`^\*1\r\n\*4\r\n\$7\r\ncommand\r\n:\d+\r\n:\d+\r\n:\d+\r\n$`).MatchString(got) {
		t.Errorf("LATENCY LATEST: %q", got)
	}
	if got := k.do("LATENCY HISTORY command"); !regexp.MustCompile(`^\*1\r\n\*2\r\n:\d+\r\n:\d+\r\n$`).MatchString(got) {
		t.Errorf("LATENCY HISTORY: %q", got)
	}
	if got := k.do("LATENCY RESET"); got != ":1\r\n" {
		t.Errorf("LATENCY RESET: %q", got)
	}
	if got := k.do("LATENCY HISTOGRAM incr"); !strings.HasPrefix(got, "*2\r\n$4\r\nincr\r\n*4\r\n$5\r\ncalls\r\n:2\r\n$14\r\nhistogram_usec\r\n") {
		t.Errorf("LATENCY HISTOGRAM: %q", got)
	}
	k.do("SLOWLOG RESET")
	k.do("CONFIG SET slowlog-log-slower-than 0 slowlog-max-len 2")
	k.do("PING")
	k.do("AUTH default secret")
	got = k.do("SLOWLOG GET -1")
	if !strings.HasPrefix(got, "*2\r\n") || strings.Contains(got, "secret") || !strings.Contains(got, "(redacted)") {
		t.Errorf("with everything logged: %q", got)
	}
	if got := k.do("INFO commandstats"); !regexp.MustCompile(`cmdstat_incr:calls=2,usec=\d{5,},usec_per_call=\d+\.\d\d,rejected_calls=0,failed_calls=0`).MatchString(got) {
		t.Errorf("INFO commandstats: %q", got)
	}
}

func TestConfigSet(t *testing.T) {
	level := new(slog.LevelVar)
	s := newTestServer(t, func(c *Config) { c.LogLevel = level })
	k := dial(t, "tcp", s.addr)
	for _, tt := range []struct{ set, get string }{
		{"loglevel debug", "loglevel"}, {"loglevel warning", "loglevel"}, {"maxclients 77", "maxclients"}, {"timeout 300", "timeout"}, {"wait 250ms", "wait"},
		{"slowlog-log-slower-than -1", "slowlog-log-slower-than"}, {"latency-monitor-threshold 100", "latency-monitor-threshold"},
	} {
		if got := k.do("CONFIG SET " + tt.set); got != "+OK\r\n" {
			t.Errorf("CONFIG SET %s: %q", tt.set, got)
		}
		_, value, _ := strings.Cut(tt.set, " ")
		if got := k.do("CONFIG GET " + tt.get); !strings.HasSuffix(got, "\r\n"+value+"\r\n") {
			t.Errorf("after CONFIG SET %s: %q", tt.set, got)
		}
	}
	if level.Level() != slog.LevelWarn || s.cfg.Segments.Wait() != 250*time.Millisecond || s.cfg.Snowflakes.Wait() != 250*time.Millisecond {
		t.Errorf("level %v, wait %v and %v", level.Level(), s.cfg.Segments.Wait(), s.cfg.Snowflakes.Wait())
	}
	for _, set := range []string{"maxclients 0", "wait 0s", "wait x", "port 1", "maxclients 5 wait x"} {
		if got := k.do("CONFIG SET " + set); !strings.HasPrefix(got, "-ERR CONFIG SET failed (possibly related to argument '") {
			t.Errorf("CONFIG SET %s: %q", set, got)
		}
	}
	if got := k.do("CONFIG GET maxclients"); !strings.Contains(got, "77") {
		t.Errorf("a failed CONFIG SET changed something: %q", got)
	}
}

// Programs that INCR keys of their own, and redis-benchmark, change nothing.
func TestBareKeys(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.BareKeys = true })
	k := dial(t, "tcp", s.addr)
	for _, tt := range []struct{ send, want string }{
		{"INCR counter:1", ":1\r\n"}, {"INCR segment:counter:1", ":2\r\n"}, {"INCRBY counter:1 10", ":12\r\n"},
		{"GET nothing", "$-1\r\n"}, {"GET counter:1", "-ERR GET does not draw from a segment: use INCR; HGET key last shows the last id\r\n"},
		{"EXISTS counter:1 nothing", ":1\r\n"}, {"TYPE counter:1", "+string\r\n"}, {"SET other 9", "+OK\r\n"}, {"INCR other", ":10\r\n"},
		{"KEYS *", "*2\r\n$9\r\ncounter:1\r\n$5\r\nother\r\n"}, {"DEL other", ":1\r\n"}, {"SCAN 0", "*2\r\n$1\r\n0\r\n*1\r\n$9\r\ncounter:1\r\n"},
		{"INCR segment:", ":1\r\n"}, {"KEYS segment*", "*1\r\n$8\r\nsegment:\r\n"},
	} {
		if got := k.do(tt.send); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.send, got, tt.want)
		}
	}
}

func TestRefusedCommandsSayWhatToUse(t *testing.T) {
	k := dial(t, "tcp", newTestServer(t).addr)
	for line, says := range map[string]string{
		"DECR segment:a": "INCR", "GETSET segment:a 1": "SET", "EXPIRE segment:a 5": "DEL", "FLUSHALL": "DEL", "RENAME a b": "a tag keeps its name",
		"LPUSH a b": "LPOP", "hincrby a b 1": "HSET", "EVAL x 0": "pipelines", "ZADD a 1 b": "no other data", "MONITOR": "SLOWLOG", "DEBUG SLEEP 1": "developing",
	} {
		got := k.do(line)
		name, _, _ := strings.Cut(strings.ToUpper(line), " ")
		if !strings.HasPrefix(got, "-ERR "+name+" is not supported: ") || !strings.Contains(got, says) {
			t.Errorf("%s: %q", line, got)
		}
	}
}

func TestIdleTimeout(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.IdleTimeout = 300 * time.Millisecond })
	idle, listener := dial(t, "tcp", s.addr), dial(t, "tcp", s.addr)
	listener.do("SUBSCRIBE news") // such connections have nothing to send
	idle.do("PING")
	if got := idle.rest(); got != "" {
		t.Errorf("the idle client got %q", got)
	}
	if got := listener.do("PING"); got != "*2\r\n$4\r\npong\r\n$0\r\n\r\n" {
		t.Errorf("the listening client got %q", got)
	}
}

func TestMaxOutput(t *testing.T) {
	k := dial(t, "tcp", newTestServer(t, func(c *Config) { c.MaxOutput = 100_000 }).addr)
	if got := k.do("LPOP segment:a 100000"); got != "-ERR the reply would exceed --max-output: ask for fewer at a time\r\n" {
		t.Errorf("%q", got)
	}
	if got := k.do("LPOP segment:a 3000"); !strings.HasPrefix(got, "*3000\r\n") {
		t.Errorf("%.100q", got)
	}
}

func TestTrackingWithoutCaching(t *testing.T) {
	k := dial(t, "tcp", newTestServer(t).addr)
	for _, tt := range []struct{ send, want string }{
		{"CLIENT TRACKING ON", "-ERR CLIENT TRACKING ON is refused without OPTIN"},
		{"CLIENT TRACKING ON BCAST", "-ERR CLIENT TRACKING ON is refused without OPTIN"},
		{"CLIENT TRACKING ON OPTIN", "+OK\r\n"},
		{"CLIENT CACHING YES", "-ERR CLIENT CACHING YES is refused"},
		{"PTTL snowflake:a", ":-1\r\n"},
		{"GET snowflake:a", "-ERR CLIENT CACHING YES is refused, and the draw it was for"},
		{"GET snowflake:a", "$19\r\n"},
		{"CLIENT CACHING YES", "-ERR"}, {"MULTI", "+OK\r\n"}, {"PTTL snowflake:a", "+QUEUED\r\n"}, {"GET snowflake:a", "-ERR CLIENT CACHING YES is refused"}, {"EXEC", "-EXECABORT"},
		{"MULTI", "+OK\r\n"}, {"CLIENT CACHING YES", "-ERR CLIENT CACHING YES is refused"}, {"GET snowflake:a", "+QUEUED\r\n"}, {"EXEC", "-EXECABORT"},
		{"GET snowflake:a", "$19\r\n"},
		{"CLIENT CACHING NO", "+OK\r\n"},
		{"CLIENT TRACKINGINFO", "*6\r\n$5\r\nflags\r\n*2\r\n$2\r\non\r\n$5\r\noptin\r\n$8\r\nredirect\r\n:0\r\n"},
		{"CLIENT TRACKING OFF", "+OK\r\n"},
		{"CLIENT MAINT_NOTIFICATIONS ON", "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.\r\n"},
	} {
		if got := k.do(tt.send); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q", tt.send, got)
		}
	}
}

func TestObjectsAndShutdown(t *testing.T) {
	var stopped atomic.Bool
	s := newTestServer(t, func(c *Config) { c.OnShutdown = func() { stopped.Store(true) } })
	k := dial(t, "tcp", s.addr)
	k.do("INCR segment:a")
	for _, tt := range []struct{ send, want string }{
		{"OBJECT ENCODING segment:a", "$3\r\nint\r\n"}, {"OBJECT REFCOUNT segment:a", ":1\r\n"}, {"MEMORY USAGE segment:a", ":521\r\n"}, {"RANDOMKEY", "$9\r\nsegment:a\r\n"},
		{"UNLINK segment:a", ":1\r\n"}, {"TOUCH segment:a", ":0\r\n"},
	} {
		if got := k.do(tt.send); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.send, got, tt.want)
		}
	}
	k.send("SHUTDOWN NOSAVE\r\n")
	if got := k.rest(); got != "" || !stopped.Load() {
		t.Errorf("SHUTDOWN: %q, stopped %v", got, stopped.Load())
	}
}

// Arities and key positions are Redis's, so that clients, proxies and cluster clients find the keys.
func TestCommandTableIsRedis(t *testing.T) {
	redisSocket := startRedis(t)
	theirs := dial(t, "unix", redisSocket)
	for _, cmd := range newTestServer(t).commands {
		if cmd.name == "post" || cmd.name == "host:" {
			continue
		}
		theirs.send(request("COMMAND", "INFO", cmd.name))
		reply := theirs.reply()
		m := regexp.MustCompile(`^\*1\r\n\*10\r\n\$\d+\r\n[^\r]+\r\n:(-?\d+)\r\n\*(\d+)\r\n(?:\+[^\r]+\r\n)*:(-?\d+)\r\n:(-?\d+)\r\n:(-?\d+)\r\n`).FindStringSubmatch(reply)
		if m == nil {
			t.Errorf("%s: Redis says %.200q", cmd.name, reply)
			continue
		}
		want := fmt.Sprintf("%s %s %s %s", m[1], m[3], m[4], m[5])
		keys := cmd.keys
		if cmd.flags&container != 0 {
			keys = [3]int{}
		}
		got := fmt.Sprintf("%d %d %d %d", cmd.arity, keys[0], keys[1], keys[2])
		if got != want {
			t.Errorf("%s: arity and keys %s, Redis has %s", cmd.name, got, want)
		}
	}
}

func TestErrorsAreCounted(t *testing.T) {
	segments := alloc.New(&failing{alloc.NewMemStore(), errors.New("away")}, alloc.Config{AutoCreate: true, Wait: time.Millisecond})
	defer segments.Close(context.Background())
	k := dial(t, "tcp", newTestServer(t, func(c *Config) { c.Segments = segments }).addr)
	k.do("INCR segment:a")
	k.do("FOO")
	k.do("GET")
	got := k.do("INFO errorstats")
	if !strings.Contains(got, "errorstat_ERR:count=2\r\n") || !strings.Contains(got, "errorstat_TRYAGAIN:count=1\r\n") {
		t.Errorf("INFO errorstats: %q", got)
	}
	k.do("CONFIG RESETSTAT")
	if got := k.do("INFO errorstats"); strings.Contains(got, "errorstat_") {
		t.Errorf("after CONFIG RESETSTAT: %q", got)
	}
}

// CONFIG SET timeout 0 ends idle timeouts, also those that were set before; and subscribers never had any.
func TestIdleTimeoutCanBeSwitchedOff(t *testing.T) {
	s := newTestServer(t)
	admin, active, listener := dial(t, "tcp", s.addr), dial(t, "tcp", s.addr), dial(t, "tcp", s.addr)
	if got := admin.do("CONFIG SET timeout 1"); got != "+OK\r\n" {
		t.Fatal(got)
	}
	active.do("PING")
	listener.do("PING")
	listener.do("SUBSCRIBE news")
	if got := admin.do("CONFIG SET timeout 0"); got != "+OK\r\n" {
		t.Fatal(got)
	}
	for range 3 {
		time.Sleep(500 * time.Millisecond)
		active.send("PING\r\n")
		if line, err := active.r.ReadString('\n'); err != nil {
			t.Fatalf("a connection in use, with timeout 0: %q, %v", line, err)
		}
	}
	listener.send("PING\r\n")
	if line, err := listener.r.ReadString('\n'); err != nil {
		t.Errorf("a subscriber: %q, %v", line, err)
	}
}
