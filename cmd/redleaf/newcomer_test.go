package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// redisCLI sends one command with the real redis-cli and returns its answer.
func redisCLI(t testing.TB, addr string, args ...string) string {
	t.Helper()
	host, port, _ := strings.Cut(addr, ":")
	out, err := exec.CommandContext(t.Context(), "redis-cli", append([]string{"-h", host, "-p", port}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("redis-cli %v: %v (make deps installs it)\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// What README promises a newcomer: 1, then 2, then a snowflake id that decode explains with the present time.
func TestNewcomer(t *testing.T) {
	store := "sqlite:" + filepath.Join(t.TempDir(), "redleaf.db")
	p := startProcess(t, "--init", "--store", store)
	for _, want := range []string{"1", "2"} {
		if got := redisCLI(t, p.addr, "INCR", "segment:orders"); got != want {
			t.Errorf("INCR segment:orders = %q, want %q", got, want)
		}
	}
	id := redisCLI(t, p.addr, "GET", "snowflake:any")
	if len(id) != 19 {
		t.Errorf("GET snowflake:any = %q, want 19 digits", id)
	}
	out, _, status := command(t, t.TempDir(), "decode", id)
	if status != 0 {
		t.Fatalf("decode: exit status %d", status)
	}
	fields := strings.Fields(out[strings.Index(out, "\n"):])
	if len(fields) != 4 || fields[0] != id {
		t.Fatalf("decode printed %q", out)
	}
	at, err := time.Parse(time.RFC3339, fields[1])
	if err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("decode says %q: %v", fields[1], err)
	}
	if out, _, status := command(t, t.TempDir(), "nodes", "--store", store); status != 0 || !strings.Contains(out, p.addr) {
		t.Errorf("nodes, exit status %d, printed %q", status, out)
	}
}

// Every flag can come from the environment; the command line wins.
func TestEnvironment(t *testing.T) {
	t.Setenv("REDLEAF_STORE", newSQLite(t))
	t.Setenv("REDLEAF_INIT", "true")
	t.Setenv("REDLEAF_STEP", "7")
	t.Setenv("REDLEAF_REQUIREPASS", "wrong")
	p := startProcess(t, "--requirepass", "sesame")
	if got := redisCLI(t, p.addr, "--no-auth-warning", "-a", "sesame", "INCR", "segment:orders"); got != "1" {
		t.Errorf("INCR = %q", got)
	}
	if got := redisCLI(t, p.addr, "--no-auth-warning", "-a", "sesame", "HGET", "segment:orders", "step"); got != "7" {
		t.Errorf("step = %q, want that of REDLEAF_STEP", got)
	}
}

// A clean restart of the only node goes on with the very next id.
func TestCleanRestartLeavesNoGap(t *testing.T) {
	forEachStore(t, func(t *testing.T, store string) {
		for life := range 3 {
			p := startProcess(t, "--init", "--auto-create", "--store", store)
			for i := range 150 { // far enough for a second segment to stand ready
				want := 150*life + i + 1
				if got := redisCLI(t, p.addr, "INCR", "segment:orders"); got != itoa(want) {
					t.Fatalf("life %d: INCR = %s, want %d", life, got, want)
				}
			}
			if status := p.stop(t); status != 0 {
				t.Fatalf("exit status %d after SIGTERM\n%s", status, p.logged())
			}
			if !strings.Contains(p.logged(), "gave back unused ids") {
				t.Errorf("the log says nothing of ids given back:\n%s", p.logged())
			}
		}
	})
}
