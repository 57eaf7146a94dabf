package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"redleaf/alloc"
)

const asPage = "Accept: text/html"

// Everything that came over the network is text on a page, never markup.
func TestPagesEscape(t *testing.T) {
	const evil = `<script>alert("1")</script>`
	s := newSite(t)
	s.do("POST", "/create", "form: "+url.Values{"tag": {evil}, "description": {evil}}.Encode()).want(t, http.StatusSeeOther)
	s.get("/api/segment/get/"+url.PathEscape(evil)).want(t, http.StatusOK)
	for _, path := range []string{"/", "/?q=" + url.QueryEscape(evil), "/?id=" + url.QueryEscape(evil), "/cache", "/db", "/tag?name=" + url.QueryEscape(evil), "/" + url.PathEscape(evil)} {
		a := s.get(path, asPage)
		if strings.Contains(a.body, "<script>alert") {
			t.Errorf("%s shows it as markup", path)
		}
		if a.StatusCode == http.StatusOK && !strings.Contains(a.body, "&lt;script&gt;alert(") {
			t.Errorf("%s does not show it", path)
		}
		if p := a.Header.Get("Content-Security-Policy"); p != policy {
			t.Errorf("%s: policy %q", path, p)
		}
	}
}

// Pages load nothing from elsewhere and have no code in them.
func TestPagesLoadNothing(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/", "/cache", "/db", "/tag?name=orders", "/nothing"} {
		body := s.get(path, asPage).body
		for _, bad := range []string{"http://", "https://", "//", " style=", " onclick=", "<style", "@import"} {
			if rest := strings.ReplaceAll(body, "http://www.w3.org/2000/svg", ""); strings.Contains(rest, bad) {
				t.Errorf("%s has %q in it", path, bad)
			}
		}
	}
	for _, file := range []string{"style.css", "live.js", "icon.svg"} {
		a := s.get("/static/"+file).want(t, http.StatusOK)
		if strings.Contains(strings.ReplaceAll(a.body, "http://www.w3.org/2000/svg", ""), "http") {
			t.Errorf("%s loads from elsewhere", file)
		}
		s.get("/static/"+file, "If-None-Match: "+a.Header.Get("ETag")).want(t, http.StatusNotModified)
	}
	s.get("/static/..%2fpages.go").want(t, http.StatusNotFound)
	s.get("/favicon.ico").want(t, http.StatusOK)
}

// A tag is created, found, drawn from, and changed.
func TestCreateAndChange(t *testing.T) {
	s := newSite(t)
	form := func(values ...string) string {
		v := url.Values{}
		for i := 0; i < len(values); i += 2 {
			v.Set(values[i], values[i+1])
		}
		return "form: " + v.Encode()
	}
	a := s.do("POST", "/create", asPage, form("tag", "a/b & c", "first", "5,000", "step", "50", "description", "ours")).want(t, http.StatusSeeOther)
	if to := a.Header.Get("Location"); to != "/tag?name=a%2Fb+%26+c" {
		t.Errorf("goes to %s", to)
	}
	page := s.get(a.Header.Get("Location"), asPage).want(t, http.StatusOK).body
	for _, want := range []string{"a/b &amp; c", `value="50"`, `value="ours"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the tag's page lacks %s", want)
		}
	}
	if got := s.get("/api/segment/get/"+url.PathEscape("a/b & c")).want(t, http.StatusOK).body; got != "5000" {
		t.Errorf("the first id is %s", got)
	}
	s.do("POST", "/settings", asPage, form("tag", "a/b & c", "step", "70", "description", "theirs")).want(t, http.StatusSeeOther)
	if st, err := s.segments.Status(t.Context(), "a/b & c"); err != nil || st.Row.Step != 70 || st.Row.Description != "theirs" {
		t.Errorf("%+v, %v", st.Row, err)
	}

	for _, c := range []struct {
		path, form, message string
		status              int
	}{
		{"/create", form("tag", "orders"), "tag &#39;orders&#39; is already there", 409},
		{"/create", form("tag", ""), "invalid tag: it is empty", 400},
		{"/create", form("tag", "x", "first", "0"), "the first id must be a number from 1", 400},
		{"/create", form("tag", "x", "step", "many"), "the step must be a number from 1", 400},
		{"/create", form("tag", "x", "step", "2147483648"), "step must be 1 to 2147483647", 400},
		{"/settings", form("tag", "orders", "step", "0"), "the step must be a number from 1", 400},
		{"/settings", form("tag", "orders", "step", "5", "description", strings.Repeat("x", 257)), "at most 256 characters", 400},
		{"/settings", form("tag", "nosuch", "step", "5"), "does not exist", 404},
	} {
		a := s.do("POST", c.path, asPage, c.form)
		if a.StatusCode != c.status || !strings.Contains(a.body, c.message) {
			t.Errorf("%s %s: %d, no %q in it", c.path, c.form, a.StatusCode, c.message)
		}
		if strings.Contains(a.body, "live.js") {
			t.Errorf("%s %s: the page with what was wrong is replaced by itself", c.path, c.form)
		}
	}
	s.get("/tag?name=nosuch", asPage).want(t, http.StatusNotFound)
	if _, err := s.segments.Status(t.Context(), "x"); err == nil {
		t.Error("a refused form created its tag")
	}
	s.do("POST", "/create", form("tag", "orders")).want(t, http.StatusConflict)
}

// The store's failure is said on the page, which shows what was read before.
func TestDashboardWithoutStore(t *testing.T) {
	s := newSite(t)
	s.get("/", asPage).want(t, http.StatusOK)
	s.catalog.forget()
	s.store.away.Store(true)
	page := s.get("/", asPage).want(t, http.StatusOK).body
	for _, want := range []string{"orders", errAway.Error(), "these rows were read"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// A page opened only after the store had failed shows what is in use here, and says so.
func TestDashboardFirstSeenWithoutStore(t *testing.T) {
	s := newSite(t)
	s.get("/api/segment/get/orders").want(t, http.StatusOK)
	s.store.away.Store(true)
	page := s.get("/", asPage).want(t, http.StatusOK).body
	for _, want := range []string{"orders", errAway.Error(), "only tags in use on this node"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// Ten thousand tags are paged, sorted and searched, quickly.
func TestManyTags(t *testing.T) {
	const tags = 10_000
	s := newSite(t, func(c *setup) { c.alloc.AutoCreate = true })
	for i := range tags {
		tag := fmt.Sprintf("tag-%05d", i)
		if err := s.store.Create(t.Context(), tag, 1000, 0); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if err := s.segments.Draw(t.Context(), tag, 1, func(int64, int64) {}); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.get("/", asPage) // reads the rows
	begun := time.Now()
	page := s.get("/?page=3", asPage).want(t, http.StatusOK).body
	took := time.Since(begun)
	if n := strings.Count(page, "<tr>") + strings.Count(page, `<tr class="idle">`); n > dashboardTags+5 || !strings.Contains(page, "page 3 of 201") || !strings.Contains(page, "10,002") {
		t.Errorf("%d rows", n)
	}
	t.Logf("a page of %d tags, half of them in use, took %v", tags, took)
	if took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	for path, want := range map[string]string{
		"/?q=TAG-0999": "10 of 10,002", "/?q=nosuch": "No tag has", "/?sort=id&page=9999": "page 201 of 201",
		"/?q=tag-1&sort=rate": "0 of", "/cache?q=tag-00002": "tag-00002", "/db?page=2": "page 2 of 51",
	} {
		if body := s.get(path, asPage).want(t, http.StatusOK).body; !strings.Contains(body, want) {
			t.Errorf("%s: no %q", path, want)
		}
	}
	var rows []rowView
	s.get("/db", "Accept: application/json").json(t, &rows)
	var buffers map[string]bufferView
	s.get("/cache", "Accept: application/json").json(t, &buffers)
	if len(rows) != tags+2 || len(buffers) != tags/2 {
		t.Errorf("%d rows, %d buffers", len(rows), len(buffers))
	}
}

// The buffers in Leaf's fields.
func TestCache(t *testing.T) {
	s := newSite(t)
	s.get("/api/segment/get/orders?n=5").want(t, http.StatusOK)
	var buffers map[string]bufferView
	s.get("/cache", "Accept: application/json").want(t, http.StatusOK).json(t, &buffers)
	if got, want := buffers["orders"], (bufferView{Key: "orders", Value0: 6, Max0: 1001, Step0: 1000, InitOk: true}); got != want {
		t.Errorf("%+v", got)
	}
	var raw map[string]map[string]any
	if err := json.Unmarshal([]byte(s.get("/cache", "Accept: application/json").body), &raw); err != nil || len(raw["orders"]) != 10 {
		t.Errorf("%v, %v", raw, err)
	}
}

func TestTagView(t *testing.T) {
	v := tagView{Live: alloc.Live{Status: alloc.Status{Left: 250, Next: 1000, NextStep: 2000}, Size: 1000, Step: 1000}, Rate: 10}
	if v.Ahead() != 25 || v.Behind() != 100 || v.Trend() != 1 || v.Lasts() != 125*time.Second {
		t.Error(v.Ahead(), v.Behind(), v.Trend(), v.Lasts())
	}
	if v.Rate = 0; v.Lasts() >= 0 {
		t.Error(v.Lasts())
	}
	if v.Rate = 1e-300; v.Lasts() != century {
		t.Error(v.Lasts())
	}
}

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 9223372036854775807: "9,223,372,036,854,775,807"} {
		if got := groupDigits(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for d, want := range map[time.Duration]string{
		-1: "", 0: "0", 1500: "1 µs", 20 * time.Millisecond: "20 ms", 1234 * time.Millisecond: "1.2 s", 90 * time.Second: "90 s",
		9 * time.Minute: "9 min", 26*time.Hour + 5*time.Minute: "26 h 05 min", 400 * 24 * time.Hour: "400 days", 53 * 365 * 24 * time.Hour: "53 years", century: "over 100 years",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
