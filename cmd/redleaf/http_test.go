package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"redleaf/alloc/sqlstore/mariadbtest"
)

var webLine = regexp.MustCompile(`msg="HTTP is served" addr=(\S+)`)

// startWeb starts a process with HTTP and returns its address.
func startWeb(t *testing.T, args ...string) (p *process, base string) {
	t.Helper()
	p = startProcess(t, append([]string{"--init", "--store", newSQLite(t), "--http-listen", "127.0.0.1:0"}, args...)...)
	m := webLine.FindStringSubmatch(p.logged())
	if m == nil {
		t.Fatalf("no HTTP:\n%s", p.logged())
	}
	return p, "http://" + m[1]
}

// fetch sends a request and returns the status and the body.
func fetch(t *testing.T, method, url string, change ...func(*http.Request)) (status int, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(r)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// shop gives the user shop's password.
func shop(password string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth("shop", password) }
}

// HTTP and the Redis port draw from the same ids; other nodes learn the address; a stop ends both in order.
func TestHTTP(t *testing.T) {
	p, base := startWeb(t)
	for i, draw := range []func() string{
		func() string { _, body := fetch(t, "GET", base+"/api/segment/get/orders"); return body },
		func() string { return redisCLI(t, p.addr, "INCR", "segment:orders") },
		func() string { _, body := fetch(t, "POST", base+"/api/segment/get/orders"); return body },
	} {
		if got := draw(); got != string(rune('1'+i)) {
			t.Errorf("draw %d: %q", i, got)
		}
	}
	for path, want := range map[string]string{
		"/healthz": "ok", "/readyz": `"ready":true`, "/metrics": `redleaf_ids_issued_total{kind="segment"} 3`, "/": "this node",
	} {
		if status, body := fetch(t, "GET", base+path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d, no %q in it", path, status, want)
		}
	}
	if status := p.stop(t); status != 0 || !strings.Contains(p.logged(), `gave back unused ids" ids=997`) {
		t.Errorf("exit status %d\n%s", status, p.logged())
	}
}

// The users of the Redis port are HTTP's.
func TestHTTPUsers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, []byte("user default off\nuser shop on >pw ~segment:orders -@all +@draw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, base := startWeb(t, "--acl-file", file)
	for _, c := range []struct {
		path   string
		change func(*http.Request)
		status int
	}{
		{"/api/segment/get/orders", func(*http.Request) {}, http.StatusUnauthorized},
		{"/api/segment/get/orders", shop("no"), http.StatusUnauthorized},
		{"/api/segment/get/orders", shop("pw"), http.StatusOK},
		{"/api/segment/get/other", shop("pw"), http.StatusForbidden},
		{"/", shop("pw"), http.StatusForbidden},
		{"/healthz", func(*http.Request) {}, http.StatusOK},
	} {
		if status, body := fetch(t, "GET", base+c.path, c.change); status != c.status {
			t.Errorf("%s: %d, want %d: %s", c.path, status, c.status, body)
		}
	}
}

// An address that is taken, or none.
func TestHTTPListen(t *testing.T) {
	_, base := startWeb(t)
	addr := strings.TrimPrefix(base, "http://")
	if _, stderr, status := command(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--init", "--http-listen", addr); status != 1 ||
		!strings.Contains(stderr, "--http-listen") || !strings.Contains(stderr, "another server is there") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	for _, args := range [][]string{{"--http-listen", "8080"}, {"--http-max-clients", "0"}, {"--http-metrics-tags=-1"}} {
		if _, stderr, status := command(t, t.TempDir(), append([]string{"serve"}, args...)...); status != 1 || !strings.Contains(stderr, strings.Split(args[0], "=")[0]) {
			t.Errorf("%v: exit status %d: %s", args, status, stderr)
		}
	}
	p := startProcess(t, "--init", "--store", newSQLite(t))
	if strings.Contains(p.logged(), "HTTP is served") {
		t.Error("HTTP is served although --http-listen is empty")
	}
}

// Nodes of one store show each other, with their worker ids and a way to their own dashboards.
func TestHTTPNodes(t *testing.T) {
	store := mariadbtest.Start(t).Database(t)
	first := startProcess(t, "--store", store, "--http-listen", "127.0.0.1:0", "--worker-ids", "7-7")
	second := startProcess(t, "--store", store, "--http-listen", "127.0.0.1:0", "--worker-ids", "9-9")
	base := "http://" + webLine.FindStringSubmatch(first.logged())[1]
	other := "http://" + webLine.FindStringSubmatch(second.logged())[1]
	page := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(200 * time.Millisecond) {
		if _, page = fetch(t, "GET", base+"/"); strings.Contains(page, `href="`+other+`/"`) && strings.Contains(page, `workers">9<`) {
			break
		}
	}
	for _, want := range []string{`href="` + other + `/"`, first.addr, second.addr, `workers">7<`, `workers">9<`, "2 nodes"} {
		if !strings.Contains(page, want) {
			t.Errorf("the dashboard lacks %s:\n%s", want, page)
		}
	}
}
