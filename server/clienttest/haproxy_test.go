//go:build clients

package clienttest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// haproxyConfig is the example of docs/nodes.md with other addresses.
const haproxyConfig = `global
    maxconn 4000

defaults
    mode tcp
    timeout connect 1s
    timeout client 1h
    timeout server 1h
    retries 2
    option redispatch

listen redleaf
    bind %s
    balance leastconn
    option tcp-check
    tcp-check send PING\r\n
    tcp-check expect string +PONG
    default-server check inter 500ms fall 2 rise 2 on-marked-down shutdown-sessions
    server a %s
    server b %s
    server c %s
`

// haproxy puts a balancer before the nodes and returns its address.
func haproxy(t *testing.T, f *fleet) string {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/haproxy")
	}
	if err != nil {
		t.Skip("not run: haproxy missing")
	}
	addr := freeAddr(t)
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	text := fmt.Sprintf(haproxyConfig, addr, f.nodes[0].addr, f.nodes[1].addr, f.nodes[2].addr)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-db", "-f", file)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			return addr
		}
	}
	t.Fatal("haproxy does not answer")
	return ""
}
