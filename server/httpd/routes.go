package httpd

import (
	"net/http"
	"slices"

	"redleaf/server"
)

// route is one path. Its name is what metrics call it.
type route struct {
	pattern string
	name    string
	methods []string
	serve   handler
}

// handler answers one request of a caller, or returns why not.
type handler func(s *Server, w http.ResponseWriter, r *http.Request, who server.Caller) error

func routes() []route {
	read := []string{http.MethodGet, http.MethodHead}
	draw := []string{http.MethodGet, http.MethodPost} // not HEAD: it would cost an id that nobody sees
	post := []string{http.MethodPost}
	return []route{
		{"/api/segment/get/{key}", "segment_get", draw, (*Server).getSegment},
		{"/api/segment/get/{key}/{$}", "segment_get", draw, (*Server).getSegment}, // Spring takes a slash at the end as well
		{"/api/segment/get/{$}", "segment_get", draw, noKey},
		{"/api/segment/get", "segment_get", draw, noKey},
		{"/api/segment/range/{key}", "segment_range", draw, (*Server).getRange},
		{"/api/snowflake/get/{key}", "snowflake_get", draw, (*Server).getSnowflake},
		{"/api/snowflake/get/{key}/{$}", "snowflake_get", draw, (*Server).getSnowflake},
		{"/api/snowflake/get/{$}", "snowflake_get", draw, noKey},
		{"/api/snowflake/get", "snowflake_get", draw, noKey},
		{"/decodeSnowflakeId", "decode", append(draw, http.MethodHead), (*Server).decode},

		{"/{$}", "dashboard", read, (*Server).dashboard},
		{"/cache", "cache", read, (*Server).cachePage},
		{"/db", "db", read, (*Server).dbPage},
		{"/tag", "tag", read, (*Server).tagPage},
		{"/create", "create", post, (*Server).createTag},
		{"/settings", "settings", post, (*Server).changeTag},

		{"/metrics", "metrics", read, (*Server).metrics},
		{"/debug/pprof/", "pprof", append(read, http.MethodPost), (*Server).pprof},
	}
}

// openRoutes are for everybody: they tell nothing that matters.
func openRoutes() []route {
	read := []string{http.MethodGet, http.MethodHead}
	return []route{
		{"/healthz", "healthz", read, (*Server).healthz},
		{"/readyz", "readyz", read, (*Server).readyz},
		{"/static/{file}", "static", read, (*Server).static},
		{"/favicon.ico", "static", read, (*Server).favicon},
	}
}

// handler puts the paths together. A request that changes something and that another site's page made a browser send is
// refused.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	registry := newRegistry(s)
	s.traffic.register(registry)
	s.exposition = newExposition(registry)
	for _, rt := range routes() {
		mux.HandleFunc(rt.pattern, s.traffic.counting(rt.name, s.admitted(rt)))
	}
	for _, rt := range openRoutes() {
		mux.HandleFunc(rt.pattern, s.traffic.counting(rt.name, s.open(rt)))
	}
	mux.HandleFunc("/", s.traffic.counting("other", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, errNotFound)
	}))
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errCrossOrigin) }))
	return guard.Handler(mux)
}

// admitted answers callers that may come in.
func (s *Server) admitted(rt route) http.HandlerFunc {
	return s.checked(rt, func(w http.ResponseWriter, r *http.Request) error {
		who, err := s.caller(r)
		if err != nil {
			return err
		}
		return rt.serve(s, w, r, who)
	})
}

// open answers everybody. The caller is nobody.
func (s *Server) open(rt route) http.HandlerFunc {
	return s.checked(rt, func(w http.ResponseWriter, r *http.Request) error { return rt.serve(s, w, r, server.Caller{}) })
}

// checked checks the method, and turns an error into a reply.
func (s *Server) checked(rt route, serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		err := rt.allows(r.Method)
		if err == nil {
			err = serve(w, r)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	}
}

func (rt route) allows(method string) error {
	if slices.Contains(rt.methods, method) {
		return nil
	}
	return &methodError{method, rt.methods}
}
