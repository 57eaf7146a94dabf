package httpd

import (
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"redleaf/server"
)

// profileTime is how long a profile may take to write.
const profileTime = 10 * time.Minute

// pprof is /debug/pprof/, for those who may change settings.
func (s *Server) pprof(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	if err := mayConfigure(who); err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(profileTime)) // without it the usual one cuts long profiles
	switch strings.TrimPrefix(r.URL.Path, "/debug/pprof/") {
	case "cmdline":
		return errNotFound // arguments may hold a password
	case "profile":
		pprof.Profile(w, r)
	case "symbol":
		pprof.Symbol(w, r)
	case "trace":
		pprof.Trace(w, r)
	default:
		pprof.Index(w, r)
	}
	return nil
}

func mayConfigure(who server.Caller) error {
	if err := who.MayAdmin(); err != nil {
		return err
	}
	return who.May("config", "set", "loglevel", "info")
}
