package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redleaf/alloc"
	"redleaf/server"
	"redleaf/snowflake"
)

// site is an HTTP server on stores in memory.
type site struct {
	*Server
	store    *moodyStore
	segments *alloc.Allocator
}

// moodyStore is a store that can be away.
type moodyStore struct {
	*alloc.MemStore
	away atomic.Bool
}

var errAway = errors.New("the database is away")

func (m *moodyStore) Lease(ctx context.Context, tag string, n int64) (alloc.Range, error) {
	if m.away.Load() {
		return alloc.Range{}, errAway
	}
	return m.MemStore.Lease(ctx, tag, n)
}

func (m *moodyStore) Lookup(ctx context.Context, tag string) (alloc.Row, error) {
	if m.away.Load() {
		return alloc.Row{}, errAway
	}
	return m.MemStore.Lookup(ctx, tag)
}

func (m *moodyStore) Count(ctx context.Context) (int64, error) {
	if m.away.Load() {
		return 0, errAway
	}
	return m.MemStore.Count(ctx)
}

func (m *moodyStore) List(ctx context.Context, after string, limit int) ([]alloc.Row, error) {
	if m.away.Load() {
		return nil, errAway
	}
	return m.MemStore.List(ctx, after, limit)
}

// setup is what a test may change.
type setup struct {
	redis server.Config
	http  Config
	alloc alloc.Config
}

// newSite returns a site whose tags orders and users exist; the test's end stops it.
func newSite(t testing.TB, change ...func(*setup)) *site {
	t.Helper()
	node, err := snowflake.Start(t.Context(), snowflake.NewMemWindows(func() int64 { return time.Now().UnixMilli() }), snowflake.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close(context.Background()) })
	c := setup{alloc: alloc.Config{Wait: 20 * time.Second}, http: Config{NodeID: "n1", Version: "test", Leases: NewLeases()}}
	c.redis = server.Config{Snowflakes: node, StoreName: "memory", NodeID: "n1"}
	for _, f := range change {
		f(&c)
	}
	store := &moodyStore{MemStore: alloc.NewMemStore()}
	for _, tag := range []string{"orders", "users"} {
		if err := store.Create(t.Context(), tag, 1000, 0); err != nil {
			t.Fatal(err)
		}
	}
	segments := alloc.New(alloc.Observed(store, c.http.Leases.Observe), c.alloc)
	t.Cleanup(func() { segments.Close(context.Background()) })
	c.redis.Segments = segments
	if c.http.Redis, err = server.New(c.redis); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.http.Redis.Shutdown(context.Background()) })
	c.http.Segments, c.http.Snowflakes = c.redis.Segments, c.redis.Snowflakes
	s, err := New(c.http)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown(context.Background()) })
	return &site{s, store, segments}
}

// impatient makes calls wait in vain for a short time only.
func impatient(c *setup) { c.alloc.Wait = time.Second }

// withPassword sets the default user's password.
func withPassword(password string) func(*setup) {
	return func(c *setup) { c.redis.Password = password }
}

// withUsers sets an ACL file.
func withUsers(acl string) func(*setup) { return func(c *setup) { c.redis.ACL = acl } }

// byHand ends the sampling once a second: the test samples when it wants to.
func (s *site) byHand() *site {
	s.endLife()
	s.work.Wait()
	return s
}

// answer is a response, read to its end.
type answer struct {
	*http.Response
	body string
}

// request is one from this machine; headers are "Name: value".
func request(method, path string, headers ...string) *http.Request {
	var body io.Reader
	for _, h := range headers {
		if form, ok := strings.CutPrefix(h, "form: "); ok {
			body = strings.NewReader(form)
		}
	}
	r := httptest.NewRequest(method, path, body)
	r.RemoteAddr, r.Host = "127.0.0.1:50000", "127.0.0.1:8080"
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range headers {
		switch name, value, _ := strings.Cut(h, ": "); name {
		case "form":
		case "from":
			r.RemoteAddr = value
		case "Host":
			r.Host = value
		case "user":
			user, password, _ := strings.Cut(value, ":")
			r.SetBasicAuth(user, password)
		default:
			r.Header.Set(name, value)
		}
	}
	return r
}

func (s *site) do(method, path string, headers ...string) answer {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, request(method, path, headers...))
	response := w.Result()
	return answer{response, w.Body.String()}
}

func (s *site) get(path string, headers ...string) answer {
	return s.do(http.MethodGet, path, headers...)
}

// want fails the test unless the answer has the status.
func (a answer) want(t *testing.T, status int) answer {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	return a
}

func (a answer) json(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
}

// Requests under way are finished, new ones refused; the sampler has ended.
func TestShutdown(t *testing.T) {
	s := newSite(t)
	s.Drain()
	var state readiness
	s.get("/readyz").want(t, http.StatusServiceUnavailable).json(t, &state)
	if !state.Stopping {
		t.Errorf("%+v", state)
	}
	s.get("/api/segment/get/orders").want(t, http.StatusOK)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// Connections beyond the bound are closed; those that end make room.
func TestMaxConns(t *testing.T) {
	s := newSite(t, func(c *setup) { c.http.MaxConns = 2 })
	l := httptest.NewUnstartedServer(nil).Listener
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	call := func(client *http.Client) error {
		resp, err := client.Get(fmt.Sprintf("http://%s/healthz", l.Addr()))
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		return err
	}
	var clients []*http.Client
	for range 3 {
		clients = append(clients, &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second})
	}
	if err := errors.Join(call(clients[0]), call(clients[1])); err != nil {
		t.Fatal(err)
	}
	if err := call(clients[2]); err == nil {
		t.Error("a third connection was served")
	}
	clients[0].CloseIdleConnections()
	var err error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if err = call(clients[2]); err == nil {
			break
		}
	}
	if err != nil {
		t.Error("after one had ended:", err)
	}
	for _, c := range clients {
		c.CloseIdleConnections()
	}
	if err := errors.Join(s.Shutdown(t.Context()), <-served); err != nil {
		t.Error(err)
	}
}
