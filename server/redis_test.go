package server

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// startRedis runs a real redis-server on a unix socket, with more arguments, until the test ends.
func startRedis(t *testing.T, args ...string) (socket string) {
	t.Helper()
	dir := t.TempDir()
	socket = filepath.Join(dir, "redis.sock")
	args = append([]string{"--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--daemonize", "no"}, args...)
	cmd := exec.Command("redis-server", args...)
	var out bytes.Buffer
	ready := make(chan struct{})
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("redis-server: %v (make deps installs it)", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	go func() {
		defer close(ready)
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			out.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), "ready to accept connections") {
				return
			}
		}
	}()
	select {
	case <-ready:
	case <-time.After(replyTimeout):
		t.Fatal("redis-server did not start")
	}
	if conn, err := net.Dial("unix", socket); err != nil {
		t.Fatalf("redis-server did not start: %v\n%s", err, out.String())
	} else {
		conn.Close()
	}
	return socket
}

// exchange sends raw bytes on a new connection, then a PING, and returns all that came before the PING's reply, and
// whether the server closed the connection instead.
func exchange(t *testing.T, network, addr, raw string) (replies string, closed bool) {
	t.Helper()
	const marker = "the-end-of-this-exchange"
	k := dial(t, network, addr)
	defer k.conn.Close()
	k.conn.SetDeadline(time.Now().Add(replyTimeout))
	k.conn.Write([]byte(raw + request("PING", marker))) // may fail when the server closes early
	var b strings.Builder
	for {
		start := b.Len()
		if err := readReply(k.r, &b); err != nil {
			return b.String(), true
		}
		if strings.Contains(b.String()[start:], marker) {
			return b.String()[:start], false
		}
	}
}

// Every request here gets the same answer, byte for byte, from a real Redis: errors, empty replies, framing.
func TestSameAsRedis(t *testing.T) {
	socket := startRedis(t)
	s := newTestServer(t)
	lines := []string{
		"PING", "ping", "PING a", "PING a b", "ECHO", "ECHO a", "ECHO a b", "QUIT", "QUIT a",
		"SELECT 0", "SELECT 15", "SELECT 16", "SELECT x", "SELECT -1", "SELECT", "SELECT 99999999999999999999",
		"FOO", "foo bar baz", "FOO 1 2 3 4 5 6 7 8", "RESET", "RESET a", "TIME a", "DBSIZE", "DBSIZE 1",
		"GET", "GET nothing", "GET a b", "MGET", "MGET a b", "STRLEN", "STRLEN a", "STRLEN a b",
		"INCR", "INCR a b", "INCRBY", "INCRBY a", "INCRBY segment:a x", "INCRBY segment:a 1.5", "INCRBY segment:a 9223372036854775808",
		"LPOP", "LPOP a b c", "LPOP segment:a x", "LPOP segment:a -1", "RPOP", "RPOP segment:a -5", "LPOP snowflake:a x",
		"SET", "SET a", "SET segment:a 1 FOO", "SET segment:a 1 NX FOO", "HSET", "HSET a b", "HSET segment:a step", "HSET segment:a step 1 description",
		"HGET", "HGET a", "HGET a b", "HGETALL", "HGETALL a", "HGETALL a b", "DEL",
		"EXISTS", "EXISTS a", "EXISTS a b c", "TYPE", "TYPE a", "TTL", "TTL a", "PTTL a",
		"KEYS", "KEYS nothing*", "KEYS a b", "SCAN", "SCAN 0", "SCAN x", "SCAN 0 COUNT", "SCAN 0 COUNT 0", "SCAN 0 COUNT x",
		"SCAN 0 FOO 1", "SCAN 0 MATCH nothing* COUNT 5", "SCAN 0 TYPE string", "SCAN 0 TYPE", "SCAN 99999999999999999999",
		"CLIENT", "CLIENT FOO", "CLIENT GETNAME", "CLIENT GETNAME a", "CLIENT SETNAME", "CLIENT SETNAME a b", "CLIENT ID a", "CLIENT INFO a",
		"COMMAND FOO", "COMMAND COUNT a", "COMMAND DOCS nothing", "COMMAND INFO nothing", "CONFIG", "CONFIG FOO", "CONFIG GET",
		"CONFIG GET save", "CONFIG GET appendonly", "CONFIG GET nothing", "CONFIG GET databases", "CONFIG GET timeout", "CONFIG GET replica-read-only",
		"INFO nothing", "AUTH", "AUTH x", "AUTH a b c", "AUTH default x", "AUTH nobody x",
		"HELLO 1", "HELLO 4", "HELLO x", "HELLO 2 FOO", "HELLO 3 AUTH", "HELLO 3 AUTH a", "HELLO 2 SETNAME", "HELLO 3 AUTH nobody x",
		"MULTI a", "EXEC", "DISCARD", "WATCH", "WATCH a", "UNWATCH", "DISCARD a",
		"get\tnothing", "  PING  ", "ECHO 'a b'", `ECHO "a\x41\n\t\"b"`, "ECHO 'it\\'s'", `ECHO "a"b`, `ECHO "a`, "ECHO 'a", "ECHO \"\"", "$4 PING", "$", "$x",
		"POST / HTTP/1.1", "Host: localhost",
		"CLIENT LIST FOO", "CLIENT LIST TYPE foo", "CLIENT LIST TYPE master", "CLIENT LIST TYPE replica", "CLIENT LIST ID x", "CLIENT LIST ID 0", "CLIENT LIST ID 999999", "CLIENT LIST ID",
		"CLIENT KILL", "CLIENT KILL 127.0.0.1:1", "CLIENT KILL ID", "CLIENT KILL ID x", "CLIENT KILL ID 999999", "CLIENT KILL FOO bar", "CLIENT KILL TYPE foo",
		"CLIENT KILL SKIPME maybe", "CLIENT KILL ADDR 127.0.0.1:1 SKIPME no", "CLIENT REPLY", "CLIENT REPLY FOO", "CLIENT REPLY ON", "CLIENT NO-EVICT", "CLIENT NO-EVICT ON", "CLIENT NO-EVICT x",
		"CLIENT TRACKING", "CLIENT TRACKING FOO", "CLIENT TRACKING OFF", "CLIENT TRACKINGINFO", "CLIENT TRACKINGINFO a", "CLIENT GETREDIR", "CLIENT CACHING", "CLIENT CACHING FOO", "CLIENT UNPAUSE",
		"CLUSTER", "CLUSTER SLOTS", "CLUSTER INFO", "READONLY", "READWRITE", "ASKING", "ROLE", "ROLE a", "WAIT 0 0", "WAIT x 0", "WAIT 0", "RANDOMKEY", "RANDOMKEY a",
		"OBJECT", "OBJECT FOO", "OBJECT ENCODING", "OBJECT ENCODING nothing", "OBJECT REFCOUNT nothing", "OBJECT FREQ nothing", "OBJECT ENCODING a b",
		"MEMORY", "MEMORY FOO", "MEMORY USAGE", "MEMORY USAGE nothing", "MEMORY USAGE nothing SAMPLES 5", "MODULE", "MODULE LIST", "MODULE FOO", "TOUCH a b", "TOUCH", "UNLINK",
		"SUBSCRIBE", "SUBSCRIBE a b a", "PSUBSCRIBE x*", "UNSUBSCRIBE", "UNSUBSCRIBE a b", "PUNSUBSCRIBE", "PUBLISH a b", "PUBLISH a", "PUBSUB", "PUBSUB FOO", "PUBSUB CHANNELS", "PUBSUB NUMSUB a b", "PUBSUB NUMPAT",
		"SLOWLOG", "SLOWLOG FOO", "SLOWLOG GET", "SLOWLOG GET x", "SLOWLOG GET -2", "SLOWLOG GET 1 2", "SLOWLOG LEN", "SLOWLOG RESET",
		"LATENCY", "LATENCY FOO", "LATENCY LATEST", "LATENCY HISTORY", "LATENCY HISTORY command", "LATENCY RESET", "LATENCY RESET foo", "LATENCY HISTOGRAM nothing",
		"CONFIG SET", "CONFIG SET a", "CONFIG SET a b", "CONFIG SET maxclients x", "CONFIG SET slowlog-max-len 100", "CONFIG GET slowlog-max-len", "CONFIG SET slowlog-log-slower-than 10000",
		"CONFIG SET loglevel foo", "CONFIG RESETSTAT", "CONFIG RESETSTAT a", "CONFIG GET latency-monitor-threshold",
		"ACL", "ACL FOO", "ACL WHOAMI", "ACL WHOAMI a", "ACL USERS", "ACL CAT foo", "ACL CAT a b",
		"COMMAND GETKEYS", "COMMAND GETKEYS foo", "COMMAND GETKEYS ping", "COMMAND GETKEYS get", "COMMAND GETKEYS foo a", "COMMAND GETKEYS ping a", "COMMAND GETKEYS get a b", "COMMAND GETKEYS mget a b c", "COMMAND GETKEYS get a", "COMMAND GETKEYS object encoding a", "COMMAND LIST FOO", "COMMAND LIST FILTERBY FOO a",
		"COMMAND LIST FILTERBY PATTERN nothing*", "COMMAND LIST FILTERBY MODULE foo", "SHUTDOWN FOO", "SHUTDOWN ABORT",
	}
	var raws []string
	for _, line := range lines {
		raws = append(raws, line+"\r\n")
	}
	raws = append(raws,
		"\r\n", "\n", "PING\n", "\r\n\r\nPING\r\n", "*0\r\n", "*-1\r\n", "*-10\r\n", "*1\r\n$4\r\nPING\r\n", "*1\r\n$4\r\nping\r\n*0\r\n",
		"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", "*1\r\n$0\r\n\r\n",
		"*2\r\n$4\r\nECHO\r\n$2\r\n\r\n\r\n", "*2\r\n$4\r\nECHO\r\n$3\r\na\x00b\r\n",
		"*9223372036854775808\r\n", "*x\r\n", "*\r\n", "*+1\r\n$4\r\nPING\r\n", "* 1\r\n", "*01\r\n", "*1x\r\n",
		"*1\r\n$-1\r\n", "*1\r\n$-2\r\n", "*1\r\n$+4\r\nPING\r\n", "*1\r\n$ 4\r\nPING\r\n", "*1\r\n$536870913\r\n", "*1\r\n$9223372036854775807\r\n",
		"*1\r\n$-9223372036854775808\r\n", "*1\r\n$x\r\n", "*1\r\n$\r\n", "*1\r\n$04\r\nPING\r\n",
		"*1\r\nPING\r\n", "*2\r\n$4\r\nECHO\r\n:1\r\n", "*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n",
		inlined("MULTI")+inlined("MULTI")+inlined("PING")+inlined("EXEC"),
		inlined("MULTI")+inlined("FOO")+inlined("PING")+inlined("EXEC"),
		inlined("MULTI")+inlined("GET")+inlined("EXEC")+inlined("EXEC"),
		inlined("MULTI")+inlined("WATCH a")+inlined("EXEC"),
		inlined("MULTI")+inlined("PING")+inlined("DISCARD")+inlined("EXEC"),
		inlined("MULTI")+inlined("EXEC"),
		inlined("MULTI")+inlined("PING")+inlined("ECHO a")+inlined("GET nothing")+inlined("SELECT x")+inlined("EXEC")+inlined("PING"),
		inlined("MULTI")+inlined("PING")+inlined("RESET")+inlined("EXEC"),
		inlined("MULTI")+inlined("PING")+inlined("QUIT")+inlined("PING"),
		inlined("PING")+inlined("QUIT")+inlined("PING")+inlined("PING"),
		inlined("CLIENT SETNAME me")+inlined("CLIENT GETNAME")+inlined("RESET")+inlined("CLIENT GETNAME"),
		inlined("SUBSCRIBE a")+inlined("GET b")+inlined("PING")+inlined("PING x")+inlined("UNSUBSCRIBE a")+inlined("PING"),
		inlined("PSUBSCRIBE a*")+inlined("SUBSCRIBE a")+inlined("UNSUBSCRIBE")+inlined("PUNSUBSCRIBE")+inlined("GET nothing"),
		inlined("SUBSCRIBE a")+inlined("RESET")+inlined("GET nothing"), inlined("SUBSCRIBE a")+inlined("QUIT"), inlined("MULTI")+inlined("SUBSCRIBE a")+inlined("EXEC")+inlined("RESET"),
		inlined("CLIENT REPLY OFF")+inlined("PING")+inlined("FOO")+inlined("CLIENT REPLY ON")+inlined("PING"),
		inlined("CLIENT REPLY SKIP")+inlined("PING")+inlined("PING"), inlined("CLIENT REPLY SKIP")+inlined("CLIENT REPLY SKIP")+inlined("PING")+inlined("ECHO a"),
		request("CLIENT", "SETNAME", "a b"), inlined("MULTI")+inlined("EXEC a")+inlined("EXEC"),
		request("CLIENT", "SETNAME", "")+inlined("CLIENT GETNAME"),
		request("FOO", strings.Repeat("x", 300), "y"), request(strings.Repeat("f", 300), "y"), request("FOO", "a\r\nb"),
		request("SCAN", "1.5"), request("HELLO", "3", strings.Repeat("x", 10)),
	)
	for _, raw := range raws {
		compare(t, socket, s.addr, raw, "")
	}
	for _, raw := range []string{"GET nothing", "HGETALL nothing", "HGET a b", "MGET a b", "CONFIG GET save", "CLIENT GETNAME", "KEYS nothing", "SCAN 0",
		"SUBSCRIBE a", "UNSUBSCRIBE", "CLIENT TRACKINGINFO", "CLIENT LIST ID 999999", "ROLE", "PUBSUB NUMSUB a", "LATENCY HISTOGRAM nothing", "COMMAND INFO nothing", "COMMAND DOCS nothing", "INFO nothing", "FOO", "HELLO 4", "RESET"} {
		compare(t, socket, s.addr, raw+"\r\n", "HELLO 3\r\n")
	}
}

// compare sends raw to both; before is sent first, and its reply, which tells them apart, is not compared.
func compare(t *testing.T, socket, addr, raw, before string) {
	t.Helper()
	theirs, theyClosed := exchange(t, "unix", socket, before+raw)
	ours, weClosed := exchange(t, "tcp", addr, before+raw)
	if before != "" {
		theirs, ours = withoutFirst(t, theirs), withoutFirst(t, ours)
	}
	if ours != theirs || weClosed != theyClosed {
		t.Errorf("%.100q:\nredis   %.300q closed=%v\nredleaf %.300q closed=%v", raw, theirs, theyClosed, ours, weClosed)
	}
}

func withoutFirst(t *testing.T, replies string) string {
	t.Helper()
	var first strings.Builder
	if err := readReply(bufio.NewReader(strings.NewReader(replies)), &first); err != nil {
		t.Fatal(err)
	}
	return replies[first.Len():]
}

// With a password: what is refused before AUTH, and the limits of requests.
func TestSameAsRedisBeforeAuth(t *testing.T) {
	socket := startRedis(t, "--requirepass", "sesame")
	s := newTestServer(t, func(c *Config) { c.Password = "sesame" })
	raws := []string{
		"PING\r\n", "GET a\r\n", "FOO\r\n", "GET\r\n", "AUTH wrong\r\n", "AUTH sesame\r\n", "AUTH default sesame\r\n", "AUTH nobody sesame\r\n",
		"AUTH sesame\r\nPING\r\n", "HELLO\r\n", "HELLO 3\r\n", "HELLO 3 AUTH default wrong\r\n", "QUIT\r\n", "RESET\r\n", "AUTH sesame\r\nRESET\r\nPING\r\n",
		"MULTI\r\n", "EXEC\r\n", "COMMAND\r\n", "INFO\r\n", "CLIENT ID\r\n", "POST /\r\n",
		"*10\r\n", "*11\r\n", "*1\r\n$16384\r\n", "*1\r\n$16385\r\n", "*2\r\n$4\r\nAUTH\r\n$16385\r\n",
	}
	for _, raw := range raws {
		theirs, theyClosed := exchangeClosing(t, "unix", socket, raw)
		ours, weClosed := exchangeClosing(t, "tcp", s.addr, raw)
		if ours != theirs || weClosed != theyClosed {
			t.Errorf("%q:\nredis   %.300q closed=%v\nredleaf %.300q closed=%v", raw, theirs, theyClosed, ours, weClosed)
		}
	}
}

// exchangeClosing is exchange for connections that may not ECHO: it ends them with QUIT.
func exchangeClosing(t *testing.T, network, addr, raw string) (replies string, closed bool) {
	t.Helper()
	k := dial(t, network, addr)
	defer k.conn.Close()
	k.send(raw + request("QUIT"))
	if half, ok := k.conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	all := k.rest()
	return strings.TrimSuffix(all, "+OK\r\n"), !strings.HasSuffix(all, "+OK\r\n")
}

// KEYS matches patterns as Redis does.
func TestGlobAsRedis(t *testing.T) {
	socket := startRedis(t)
	theirs := dial(t, "unix", socket)
	keys := []string{"segment:a", "segment:ab", "segment:b", "segment:abc", "segment:a*c", "segment:a-c", "segment:[", "segment:]", "segment:^", `segment:\`, "segment:é"}
	for _, key := range keys {
		theirs.do("SET " + escapeInline(key) + " 1")
	}
	patterns := []string{
		"*", "segment:*", "segment:?", "segment:??", "*a*", "*a*c", "*b", "segment:[ab]", "segment:[^a]", "segment:[a-c]", "segment:[c-a]", "segment:a[*]c",
		`segment:a\*c`, `segment:\[`, "segment:[[]", "segment:]", "segment:[]", "segment:[a", `segment:[\]]`, "segment:a[b-", `segment:\\`, `segment:\`, "", "**", "*?*?*", "segment:[^", "segment:[^]", "x*", "segment:??????",
		"segment:[a-]", "segment:a[b--]c",
	}
	for _, pattern := range patterns {
		theirs.send(request("KEYS", pattern))
		reply := theirs.reply()
		for _, key := range keys {
			want := strings.Contains(reply, "\r\n"+key+"\r\n")
			if got := glob(pattern, key); got != want {
				t.Errorf("glob(%q, %q) = %v", pattern, key, got)
			}
		}
	}
}

func escapeInline(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// tool runs one of Redis's own programs against the server until it ends, or for a moment if it would go on for ever.
func tool(t *testing.T, addr, stdin, name string, args ...string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	endless := slices.Contains(args, "--stat") || slices.Contains(args, "--latency")
	limit := time.Minute
	if endless {
		limit = 1500 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	args = append([]string{"-h", host, "-p", port}, args...)
	if endless { // what it has printed when it is interrupted would be in its buffer
		name, args = "stdbuf", append([]string{"-o0", name}, args...)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil && !endless {
		t.Errorf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// redis-cli and redis-benchmark, the tools that everyone tries first, work as with Redis.
func TestRedisCLI(t *testing.T) {
	addr := newTestServer(t).addr
	for _, tt := range []struct {
		args        []string
		stdin, says string
	}{
		{nil, "INCR segment:a\nINCR segment:a\nHGET segment:a last\n", "1\n2\n2\n"},
		{[]string{"--bigkeys"}, "", "Sampled 1 keys"},
		{[]string{"-3", "HGETALL", "segment:a"}, "", "max_id 1001"},
		{[]string{"--pipe"}, repeat(3, "INCR segment:pipe"), "errors: 0, replies: 3"},
		{[]string{"--stat", "-i", "0.2"}, "", "keys"},
		{[]string{"--latency"}, "", " "}, // min, max, avg when it is interrupted
		{[]string{"--scan"}, "", "segment:a"},
		{[]string{"--memkeys"}, "", "Sampled 2 keys"},
	} {
		if got := tool(t, addr, tt.stdin, "redis-cli", tt.args...); !strings.Contains(got, tt.says) || strings.Contains(got, "ERR") {
			t.Errorf("redis-cli %v says %q", tt.args, got)
		}
	}
}

func TestRedisBenchmark(t *testing.T) {
	addr := newTestServer(t, func(c *Config) { c.BareKeys = true }).addr
	for _, args := range []string{
		"-t ping,incr -n 2000", "-t ping,incr -n 5000 -P 100", "-n 2000 INCR segment:x", "-n 5000 -P 100 INCR segment:x", "-n 2000 GET snowflake:x", "-n 5000 -P 100 GET snowflake:x",
		"-n 500 -P 10 LPOP segment:x 100", "-n 2000 -c 200 INCR segment:x", "-n 2000 -3 INCR segment:x", "-n 2000 -r 100 INCR counter:__rand_int__",
	} {
		got := tool(t, addr, "", "redis-benchmark", append([]string{"-q"}, strings.Fields(args)...)...)
		if !strings.Contains(got, "requests per second") || strings.Contains(got, "rror") {
			t.Errorf("redis-benchmark %s says %q", args, got)
		}
	}
}

// What redis_exporter sends at each scrape is answered without an error, and INFO has the lines it reads.
func TestExporterSequence(t *testing.T) {
	k := dial(t, "tcp", newTestServer(t).addr)
	k.do("INCR segment:a")
	for _, line := range []string{"CLIENT SETNAME redis_exporter", "CONFIG GET *", "INFO ALL", "LATENCY LATEST", "LATENCY HISTOGRAM", "SLOWLOG LEN", "SLOWLOG GET 1", "COMMAND INFO incr get"} {
		got := k.do(line)
		if strings.HasPrefix(got, "-") {
			t.Errorf("%s: %q", line, got)
		}
		if line != "INFO ALL" {
			continue
		}
		for _, want := range []string{"uptime_in_seconds", "connected_clients", "used_memory", "used_memory_rss", "used_memory_peak", "maxmemory", "total_connections_received",
			"total_commands_processed", "instantaneous_ops_per_sec", "total_net_input_bytes", "total_net_output_bytes", "rejected_connections", "role", "used_cpu_sys", "used_cpu_user",
			"cmdstat_incr", "db0", "loading", "maxclients", "connected_slaves"} {
			if !strings.Contains(got, "\n"+want+":") {
				t.Errorf("INFO ALL lacks %s", want)
			}
		}
	}
}
