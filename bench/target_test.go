package bench

import (
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for _, tt := range []struct{ text, shown, network, addr, user, password string }{
		{"redis://localhost", "redis://localhost:6379", "tcp", "localhost:6379", "", ""},
		{"redis://u:p%40ss@[::1]:7000/2", "redis://[::1]:7000/2", "tcp", "[::1]:7000", "u", "p@ss"},
		{"rediss://:secret@host:1", "rediss://host:1", "tcp", "host:1", "", "secret"},
		{"unix:///run/redleaf.sock", "unix:///run/redleaf.sock", "unix", "/run/redleaf.sock", "", ""},
		{"unix://u:p@/tmp/s", "unix:///tmp/s", "unix", "/tmp/s", "u", "p"},
		{"http://h/api/{tag}?x=1", "http://h:80/api/{tag}?x=1", "tcp", "h:80", "", ""},
		{"https://h:8443/{tag}", "https://h:8443/{tag}", "tcp", "h:8443", "", ""},
	} {
		got, err := ParseTarget(tt.text)
		if err != nil || got.String() != tt.shown || got.network() != tt.network || got.Addr != tt.addr || got.User != tt.user || got.Password != tt.password {
			t.Errorf("%s: %+v %s, %v", tt.text, got, got, err)
		}
		if hasTLS := got.TLS != nil; hasTLS != (got.Scheme == "rediss" || got.Scheme == "https") {
			t.Errorf("%s: TLS %v", tt.text, hasTLS)
		}
	}
	for _, bad := range []string{"", "localhost:6379", "ftp://x", "redis://", "unix://", "http://h/no-tag", "redis://u:geheim@h:x%zz"} {
		if got, err := ParseTarget(bad); err == nil {
			t.Errorf("%q passes: %+v", bad, got)
		} else if strings.Contains(err.Error(), "geheim") {
			t.Errorf("the password is in %q", err)
		}
	}
}

func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		load Load
		want string
	}{
		{Load{}, "*2\r\n$4\r\nINCR\r\n$13\r\nsegment:bench\r\n"},
		{Load{Workload: "incrby", Count: 12, Key: "k"}, "*3\r\n$6\r\nINCRBY\r\n$1\r\nk\r\n$2\r\n12\r\n"},
		{Load{Workload: "get"}, "*2\r\n$3\r\nGET\r\n$15\r\nsnowflake:bench\r\n"},
		{Load{Workload: "mget", Count: 2, Key: "k"}, "*3\r\n$4\r\nMGET\r\n$1\r\nk\r\n$1\r\nk\r\n"},
		{Load{Workload: "lpop", Count: 1000, Key: "k"}, "*3\r\n$4\r\nLPOP\r\n$1\r\nk\r\n$4\r\n1000\r\n"},
	} {
		r, err := newRequests(tt.load.fill())
		if err != nil || string(r.batch(7, 1)) != tt.want {
			t.Errorf("%+v: %q, %v", tt.load, r.batch(7, 1), err)
		}
	}
	// Keys go on in turn from batch to batch.
	r, err := newRequests(Load{Workload: "mixed", Tags: 3, Depth: 2, Key: "k"}.fill())
	if err != nil {
		t.Fatal(err)
	}
	for first, keys := range []string{"k0 k1", "k1 k2", "k2 k0", "k0 k1"} {
		got := string(r.batch(int64(first), 2))
		a, b, _ := strings.Cut(keys, " ")
		if want := string(appendRequest(appendRequest(nil, []string{"INCR", a}), []string{"INCR", b})); got != want {
			t.Errorf("from %d: %q", first, got)
		}
	}
	if _, err := newRequests(Load{Workload: "mget", Count: 10_000, Depth: 1000}.fill()); err == nil {
		t.Error("requests without a bound")
	}
}

func TestLoadCheck(t *testing.T) {
	for _, bad := range []Load{
		{Workload: "flushall"}, {Client: "jedis"}, {Depth: -1}, {Connections: maxConnections + 1}, {Count: -1}, {Tags: -1}, {Rate: -1}, {Duration: -1},
		{Target: Target{Scheme: "http"}, Depth: 2}, {Target: Target{Scheme: "https"}, Client: ClientGoRedis},
	} {
		if _, err := Run(t.Context(), bad); err == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
