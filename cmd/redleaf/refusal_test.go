package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every refusal to start is one clear line that names the flag, with the exit status that scripts expect.
func TestRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	badACL := filepath.Join(dir, "bad.acl")
	if err := os.WriteFile(badACL, []byte("user a on\nuser b +nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := "sqlite:" + filepath.Join(dir, "other.db")
	db := "sqlite:" + filepath.Join(dir, "new.db")
	tests := []struct {
		name   string
		args   []string
		status int
		says   []string
	}{
		{"unknown flag", []string{"serve", "--stepp", "1"}, 2, []string{"--stepp"}},
		{"unknown command", []string{"serv"}, 2, []string{"serv"}},
		{"no command", nil, 2, []string{"expected"}},
		{"value that is no number", []string{"serve", "--step", "x"}, 2, []string{"--step"}},
		{"log level", []string{"serve", "--log-level", "loud"}, 2, []string{"--log-level"}},
		{"step 0", []string{"serve", "--step", "0"}, 1, []string{"--step 0", "1 to 2147483647"}},
		{"max-step", []string{"serve", "--max-step", "3000000000"}, 1, []string{"--max-step"}},
		{"max-batch", []string{"serve", "--max-batch=-1"}, 1, []string{"--max-batch"}},
		{"bits", []string{"serve", "--bits", "50,10,12"}, 1, []string{"--bits", "63"}},
		{"bits in decode", []string{"decode", "--bits", "1,2", "5"}, 1, []string{"--bits"}},
		{"decode of no number", []string{"decode", "abc"}, 1, []string{"abc"}},
		{"window", []string{"serve", "--window", "1s"}, 1, []string{"--window", "2s"}},
		{"modes", []string{"serve", "--modes", "segments"}, 1, []string{"--modes", "segments"}},
		{"workers", []string{"serve", "--workers", "2000"}, 1, []string{"--workers"}},
		{"worker-id", []string{"serve", "--worker-id", "1024"}, 1, []string{"--worker-id", "1023"}},
		{"worker-ids", []string{"serve", "--worker-ids", "5-2000"}, 1, []string{"--worker-ids"}},
		{"listen", []string{"serve", "--listen", "nowhere"}, 1, []string{"--listen"}},
		{"no listener", []string{"serve", "--listen", ""}, 1, []string{"--listen", "--tls-listen"}},
		{"TLS without certificate", []string{"serve", "--tls-listen", "127.0.0.1:0"}, 1, []string{"--tls-cert"}},
		{"TLS certificate missing", []string{"serve", "--init", "--store", other, "--tls-listen", "127.0.0.1:0", "--tls-cert", "none.pem", "--tls-key", "none.key"}, 1, []string{"--tls-cert", "none.pem"}},
		{"Unix socket's mode", []string{"serve", "--unix-socket-mode", "999"}, 1, []string{"--unix-socket-mode"}},
		{"Unix socket is a file", []string{"serve", "--init", "--store", other, "--listen", "", "--unix-socket", garbage}, 1, []string{"--unix-socket", garbage}},
		{"ACL file missing", []string{"serve", "--acl-file", "none.acl"}, 1, []string{"--acl-file", "none.acl"}},
		{"ACL file broken", []string{"serve", "--init", "--store", other, "--listen", "127.0.0.1:0", "--acl-file", badACL}, 1, []string{"--acl-file", "line 2"}},
		{"max-clients", []string{"serve", "--max-clients", "0"}, 1, []string{"--max-clients"}},
		{"store scheme", []string{"serve", "--store", "postgres://x"}, 1, []string{"--store"}},
		{"SQLite file missing", []string{"serve", "--store", db}, 1, []string{"--store", "--init", filepath.Join(dir, "new.db")}},
		{"SQLite folder missing", []string{"serve", "--init", "--store", "sqlite:" + filepath.Join(dir, "no/where.db")}, 1, []string{"--store"}},
		{"not a database", []string{"serve", "--store", "sqlite:" + garbage}, 1, []string{"--store", garbage}},
		{"not a database, with --init", []string{"serve", "--init", "--store", "sqlite:" + garbage}, 1, []string{"--store", garbage}},
		{"password file missing", []string{"serve", "--store-password-file", "no-such-file"}, 1, []string{"--store-password-file", "no-such-file"}},
		{"MySQL away", []string{"serve", "--store-timeout", "100ms", "--store", "mysql://u:secret@" + closed.Addr().String() + "/d"}, 1, []string{"--store", closed.Addr().String()}},
		{"port taken", []string{"serve", "--init", "--store", db, "--listen", taken.Addr().String()}, 1, []string{"--listen", taken.Addr().String()}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, stderr, status := command(t, dir, tt.args...)
			if status != tt.status {
				t.Errorf("exit status %d, want %d", status, tt.status)
			}
			for _, want := range tt.says {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr does not say %q", want)
				}
			}
			if strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "secret") {
				t.Error("stderr has a stack trace or the password")
			}
			if lines := plainLines(stderr); status == 1 && len(lines) != 1 {
				t.Errorf("want one line beside the log, got %d", len(lines))
			}
			if t.Failed() {
				t.Logf("stderr:\n%s", stderr)
			}
		})
	}
}

// plainLines returns the lines that are not log records.
func plainLines(s string) (lines []string) {
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(line, "time=") {
			lines = append(lines, line)
		}
	}
	return lines
}
