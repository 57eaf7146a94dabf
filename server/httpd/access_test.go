package httpd

import (
	"net/http"
	"strings"
	"testing"
)

const stranger = "from: 192.0.2.7:1234"

// Without a password HTTP is for this machine only, as the Redis port is; a proxy's and a false name's requests are not
// this machine's.
func TestProtectedMode(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/api/segment/get/orders", "/", "/metrics", "/cache"} {
		s.get(path).want(t, 200)
		s.get(path, "from: [::1]:1").want(t, 200)
		s.get(path, "Host: localhost:8080").want(t, 200)
		s.get(path, stranger).want(t, 403)
		s.get(path, "X-Forwarded-For: 192.0.2.7").want(t, 403)
		s.get(path, "Forwarded: for=192.0.2.7").want(t, 403)
		s.get(path, "Host: rebound.example:8080").want(t, 403)
		s.get(path, stranger, "user: default:x").want(t, 403)
	}
	for _, path := range []string{"/healthz", "/readyz", "/static/style.css"} {
		s.get(path, stranger).want(t, 200)
	}
}

// With --no-protected-mode everybody draws and looks; administering is for this machine.
func TestUnprotected(t *testing.T) {
	s := newSite(t, func(c *setup) { c.redis.Unprotected = true })
	s.get("/api/segment/get/orders", stranger).want(t, 200)
	s.get("/", stranger).want(t, 200)
	s.do("POST", "/create", stranger, "form: tag=new").want(t, 403)
	s.do("POST", "/create", "form: tag=new").want(t, 303)
	s.get("/debug/pprof/", stranger).want(t, 403)
	s.get("/debug/pprof/").want(t, 200)
	s.get("/debug/pprof/cmdline").want(t, 404)
	s.get("/debug/pprof/goroutine?debug=1").want(t, 200)
	if page := s.get("/", stranger, "Accept: text/html").body; strings.Contains(page, `action="/create"`) {
		t.Error("the form is shown to whom it does not serve")
	}
}

// With a password, it is asked for on every path but those of probes.
func TestPassword(t *testing.T) {
	s := newSite(t, withPassword("sesame"))
	for _, path := range []string{"/api/segment/get/orders", "/", "/metrics", "/cache", "/db", "/tag?name=orders", "/debug/pprof/", "/decodeSnowflakeId?snowflakeId=1"} {
		a := s.get(path).want(t, 401)
		if !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("%s does not ask for a password", path)
		}
		s.get(path, "user: default:wrong").want(t, 401)
		s.get(path, "user: nobody:sesame").want(t, 401)
		s.get(path, "user: default:sesame", stranger).want(t, 200)
		s.get(path, "user: :sesame").want(t, 200)
	}
	s.get("/healthz").want(t, 200)
	s.get("/readyz", stranger).want(t, 200)
}

// Users have the rights that they have on the Redis port.
func TestUsers(t *testing.T) {
	s := newSite(t, withUsers(`user default off
user shop on >pw ~segment:order* ~snowflake:* +@draw
user look on >pw ~* +@read +info +scan
user part on >pw ~segment:users +info +scan +hgetall
user ops on >pw ~* +@all`))
	for _, c := range []struct {
		user, method, path string
		status             int
	}{
		{"shop", "GET", "/api/segment/get/orders", 200},
		{"shop", "GET", "/api/segment/range/orders?n=5", 200},
		{"shop", "GET", "/api/segment/get/users", 403},
		{"shop", "GET", "/api/snowflake/get/x", 200},
		{"shop", "GET", "/", 403},
		{"shop", "GET", "/metrics", 403},
		{"shop", "GET", "/cache", 403},
		{"shop", "GET", "/tag?name=orders", 403},
		{"shop", "POST", "/settings", 403},
		{"look", "GET", "/", 200},
		{"look", "GET", "/metrics", 200},
		{"look", "GET", "/db", 200},
		{"look", "GET", "/tag?name=orders", 200},
		{"look", "GET", "/api/segment/get/orders", 403},
		{"look", "POST", "/create", 403},
		{"look", "GET", "/debug/pprof/", 403},
		{"part", "GET", "/tag?name=orders", 403},
		{"part", "GET", "/tag?name=users", 200},
		{"ops", "GET", "/debug/pprof/", 200},
		{"ops", "POST", "/create", 303},
	} {
		form := "form: tag=made"
		if c.method == "GET" {
			form = "X-None: 1"
		}
		if a := s.do(c.method, c.path, "user: "+c.user+":pw", form); a.StatusCode != c.status {
			t.Errorf("%s %s %s: %d, want %d: %s", c.user, c.method, c.path, a.StatusCode, c.status, a.body)
		}
	}
	if a := s.get("/db", "user: part:pw", "Accept: application/json"); strings.Contains(a.body, "orders") || !strings.Contains(a.body, "users") {
		t.Errorf("part sees %s", a.body)
	}
}

// Who may not see INFO is not told what is wrong, only that something is.
func TestReadinessIsDiscreet(t *testing.T) {
	s := newSite(t, withUsers("user default off\nuser shop on >pw ~* +@draw\nuser look on >pw ~* +info"))
	s.store.away.Store(true)
	var state readiness
	s.get("/readyz", "user: shop:pw").want(t, http.StatusServiceUnavailable).json(t, &state)
	if state.Segment.Problem != "" {
		t.Errorf("one who may not see INFO is told %q", state.Segment.Problem)
	}
	s.get("/readyz", "user: look:pw").want(t, http.StatusServiceUnavailable).json(t, &state)
	if !strings.Contains(state.Segment.Problem, errAway.Error()) {
		t.Errorf("one who may see INFO is told %q", state.Segment.Problem)
	}
}

// A page of another site can make a browser send requests, but they change nothing and draw nothing.
func TestOtherSites(t *testing.T) {
	s := newSite(t)
	s.do("POST", "/create", "form: tag=new", "Sec-Fetch-Site: cross-site").want(t, 403)
	s.do("POST", "/create", "form: tag=new", "Origin: https://evil.example").want(t, 403)
	s.do("POST", "/settings", "form: tag=orders&step=5", "Sec-Fetch-Site: same-site").want(t, 403)
	s.get("/api/segment/get/orders", "Sec-Fetch-Site: cross-site").want(t, 403)
	s.get("/api/snowflake/get/orders", "Sec-Fetch-Site: cross-site").want(t, 403)
	if l, ok := s.segments.LiveTag("orders"); ok {
		t.Errorf("an id was drawn: %+v", l)
	}
	s.do("POST", "/create", "form: tag=new", "Sec-Fetch-Site: same-origin", "Origin: http://127.0.0.1:8080").want(t, 303)
	s.do("POST", "/api/segment/get/orders").want(t, 200) // a program sends neither header
}
