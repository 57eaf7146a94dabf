package httpd

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What a client of Leaf says and hears, as its controllers and Spring Boot 1.5 have it; where Leaf answers 500 for
// everything, the status is the true one.
func TestLeafConversation(t *testing.T) {
	s := newSite(t)
	const text, json, rest = "text/plain;charset=UTF-8", "application/json;charset=UTF-8", "application/json, application/*+json"
	for _, c := range []struct {
		method, path, accept string
		status               int
		contentType, body    string // body "" : anything
	}{
		{"GET", "/api/segment/get/orders", "*/*", 200, text, "1"},
		{"GET", "/api/segment/get/orders", "", 200, text, "2"},
		{"POST", "/api/segment/get/orders", "*/*", 200, text, "3"},
		{"GET", "/api/segment/get/orders", "text/plain, */*", 200, text, "4"}, // RestTemplate, String.class
		{"GET", "/api/segment/get/orders", rest, 200, json, "5"},              // RestTemplate, Long.class
		{"GET", "/api/segment/get/orders/", "*/*", 200, text, "6"},
		{"GET", "/api/segment/get/orders?other=1", "*/*", 200, text, "7"},
		{"GET", "/api/segment/get/nosuchtag", "*/*", 404, json, ""},
		{"GET", "/api/segment/get/", "*/*", 400, json, ""},
		{"GET", "/api/segment/get", "*/*", 400, json, ""},
		{"PUT", "/api/segment/get/orders", "*/*", 405, json, ""},
		{"HEAD", "/api/segment/get/orders", "*/*", 405, json, ""},
		{"GET", "/api/snowflake/get/orders", "*/*", 200, text, ""},
		{"POST", "/api/snowflake/get/anything", "*/*", 200, text, ""},
		{"GET", "/decodeSnowflakeId?snowflakeId=x", "*/*", 400, json, `{"errorMsg":"snowflake Id反解析发生异常!"}` + "\n"},
		{"GET", "/decodeSnowflakeId", "*/*", 400, json, ""},
		{"GET", "/cache", "text/html", 200, "text/html;charset=UTF-8", ""},
		{"GET", "/cache", "*/*", 200, "text/html;charset=UTF-8", ""},
		{"GET", "/cache", "application/json", 200, json, ""},
		{"GET", "/db", "text/html,application/xhtml+xml,*/*;q=0.8", 200, "text/html;charset=UTF-8", ""},
		{"GET", "/db", "application/json", 200, json, ""},
		{"GET", "/nosuchpath", "*/*", 404, json, ""},
	} {
		a := s.do(c.method, c.path, "Accept: "+c.accept)
		if a.StatusCode != c.status || a.Header.Get("Content-Type") != c.contentType || c.body != "" && a.body != c.body {
			t.Errorf("%s %s, Accept %s: %d %s %q", c.method, c.path, c.accept, a.StatusCode, a.Header.Get("Content-Type"), a.body)
		}
		if a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s may be cached", c.method, c.path)
		}
	}
}

// Errors have the fields that Spring Boot gives them.
func TestLeafErrors(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		path, exception, message string
		status                   int
	}{
		{"/api/segment/get/no%20such", leafException, "tag 'no such' does not exist", 404},
		{"/api/segment/get/", noKeyException, "Key is none", 400},
		{"/api/segment/get/%20x", leafException, "invalid tag: it starts or ends with a space", 400},
		{"/api/segment/get/%ff", leafException, "invalid tag: it is not UTF-8", 400},
		{"/api/snowflake/get/%00", leafException, "invalid tag: it has a control character", 400},
		{"/api/segment/get/" + strings.Repeat("x", 129), leafException, "invalid tag: it has more than 128 characters", 400},
		{"/api/segment/get/orders?n=0", badParameter, "n must be a number from 1 to 1000000 (--max-batch)", 400},
		{"/api/segment/get/orders?n=1000001", badParameter, "n must be a number from 1 to 1000000 (--max-batch)", 400},
		{"/api/segment/get/orders?n=x", badParameter, "n must be a number from 1 to 1000000 (--max-batch)", 400},
		{"/api/segment/get/orders?format=hex", badParameter, "format must be number or string", 400},
		{"/api/segment/range/orders", missingParameter, "Required long parameter 'n' is not present", 400},
		{"/decodeSnowflakeId", missingParameter, "Required String parameter 'snowflakeId' is not present", 400},
		{"/elsewhere", "", "No message available", 404},
	} {
		var e map[string]any
		s.get(c.path).want(t, c.status).json(t, &e)
		path, _, _ := strings.Cut(c.path, "?")
		if got, _ := e["exception"].(string); got != c.exception || e["message"] != c.message || e["error"] != http.StatusText(c.status) {
			t.Errorf("%s: %v", c.path, e)
		}
		if e["status"] != float64(c.status) || !strings.Contains(path, "%") && e["path"] != path {
			t.Errorf("%s: %v", c.path, e)
		}
		if at := time.UnixMilli(int64(e["timestamp"].(float64))); time.Since(at).Abs() > time.Minute {
			t.Errorf("%s: timestamp %v", c.path, at)
		}
	}
}

// Any tag can be asked for.
func TestKeys(t *testing.T) {
	s := newSite(t, func(c *setup) { c.alloc.AutoCreate = true })
	for path, tag := range map[string]string{"a.b.html": "a.b.html", "a%2Fb": "a/b", "%E8%AE%A2%E5%8D%95": "订单", "a%20b": "a b", "a+b": "a+b", "a;b": "a;b", "x%3Fy%23z%25": "x?y#z%"} {
		s.get("/api/segment/get/"+path).want(t, 200)
		if _, ok := s.segments.LiveTag(tag); !ok {
			t.Errorf("%s did not draw of %s", path, tag)
		}
	}
	s.get("/api/segment/get/a/b").want(t, 404)
}

// Many ids in one reply, in each form.
func TestMany(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct{ path, accept, want string }{
		{"/api/segment/get/orders?n=3", "*/*", "[1,2,3]"},
		{"/api/segment/get/orders?n=1", "*/*", "[4]"},
		{"/api/segment/get/orders?n=2", "text/plain", "5\n6\n"},
		{"/api/segment/get/orders?n=2&format=string", "*/*", `["7","8"]`},
		{"/api/segment/get/orders?format=string", "application/json", `"9"`},
		{"/api/segment/get/orders?format=string", "*/*", "10"},
		{"/api/segment/range/orders?n=100", "*/*", `{"first":11,"last":110,"count":100}`},
		{"/api/segment/range/orders?n=5&format=string", "*/*", `{"first":"111","last":"115","count":5}`},
		{"/api/segment/range/orders?n=5", "text/plain", "116 120\n"},
	} {
		if got := s.get(c.path, "Accept: "+c.accept).want(t, 200).body; got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
	var ids []int64
	s.get("/api/segment/get/users?n=25000").want(t, 200).json(t, &ids)
	rising(t, ids, 25000)
	s.get("/api/snowflake/get/any?n=10000").want(t, 200).json(t, &ids)
	rising(t, ids, 10000)
	var first, last int64
	if _, err := fmt.Sscan(s.get("/api/segment/range/users?n=50000", "Accept: text/plain").want(t, 200).body, &first, &last); err != nil || first <= 25000 || last != first+49999 {
		t.Errorf("%d %d %v", first, last, err)
	}
}

func rising(t *testing.T, ids []int64, n int) {
	t.Helper()
	if len(ids) != n {
		t.Fatalf("%d ids, want %d", len(ids), n)
	}
	for i := 1; i < n; i++ {
		if ids[i] <= ids[i-1] {
			t.Fatalf("%d after %d", ids[i], ids[i-1])
		}
	}
}

// A node without the mode, and a store that is away.
func TestUnavailable(t *testing.T) {
	s := newSite(t, impatient)
	s.store.away.Store(true)
	a := s.get("/api/segment/get/orders").want(t, http.StatusServiceUnavailable)
	if a.Header.Get("Retry-After") != "1" || !strings.Contains(a.body, "no segment for tag 'orders'") {
		t.Errorf("%v %s", a.Header, a.body)
	}
	s.store.away.Store(false)
	s.get("/api/segment/get/users").want(t, http.StatusOK)
	s.segments.Close(t.Context())
	if a := s.get("/api/segment/get/users").want(t, http.StatusServiceUnavailable); !strings.Contains(a.body, "this node is stopping") {
		t.Error(a.body)
	}
	s = newSite(t, func(c *setup) { c.redis.Snowflakes = nil })
	s.get("/api/snowflake/get/x").want(t, http.StatusNotFound)
	s.get("/").want(t, http.StatusOK)
	s.get("/metrics").want(t, http.StatusOK)
	s.get("/readyz").want(t, http.StatusOK)
}

// Leaf's example, which its source shows.
func TestDecode(t *testing.T) {
	s := newSite(t)
	id := s.cfg.Layout.ID(1567733700834, 39, 3448)
	var got map[string]string
	s.get(fmt.Sprintf("/decodeSnowflakeId?snowflakeId=%d", id)).want(t, 200).json(t, &got)
	want := "1567733700834(" + time.UnixMilli(1567733700834).Format("2006-01-02 15:04:05.000") + ")"
	if got["timestamp"] != want || got["workerId"] != "39" || got["sequenceId"] != "3448" {
		t.Error(got)
	}
	s.get("/decodeSnowflakeId?snowflakeId=-1").want(t, 400)
}

func TestChoose(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                "text/plain",
		"*/*":                             "text/plain",
		"application/json":                "application/json",
		"text/*":                          "text/plain",
		"application/json;q=0.5, */*":     "text/plain",
		"text/plain;q=0.1,*/*;q=0.5":      "application/json",
		"text/plain;q=0, */*":             "application/json",
		"APPLICATION/JSON":                "application/json",
		"image/png":                       "text/plain",
		"application/json;q=x":            "text/plain",
		"application/json; charset=utf-8": "application/json",
	} {
		if got := choose(request("GET", "/", "Accept: "+accept), "text/plain", "application/json"); got != want {
			t.Errorf("%q: %s, want %s", accept, got, want)
		}
	}
}
