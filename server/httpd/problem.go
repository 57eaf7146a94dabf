package httpd

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"redleaf/alloc"
	"redleaf/server"
	"redleaf/snowflake"
)

// Exceptions of Leaf and of Spring, which clients know by name.
const (
	leafException    = "com.sankuai.inf.leaf.server.exception.LeafServerException"
	noKeyException   = "com.sankuai.inf.leaf.server.exception.NoKeyException"
	missingParameter = "org.springframework.web.bind.MissingServletRequestParameterException"
	badParameter     = "org.springframework.web.method.annotation.MethodArgumentTypeMismatchException"
	methodException  = "org.springframework.web.HttpRequestMethodNotSupportedException"
	accessDenied     = "org.springframework.security.access.AccessDeniedException"
	badCredentials   = "org.springframework.security.authentication.BadCredentialsException"
)

// problem is an error with the status that it gets.
type problem struct {
	status    int
	exception string
	message   string
}

func (p *problem) Error() string { return p.message }

// Problems that have no cause in an id.
var (
	errNotFound    = &problem{http.StatusNotFound, "", "No message available"} // Spring's words
	errNoKey       = &problem{http.StatusBadRequest, noKeyException, "Key is none"}
	errCrossOrigin = &problem{http.StatusForbidden, accessDenied, "another site's page sent this request"}
	errNoSegments  = &problem{http.StatusNotFound, leafException, "segment mode is off on this node (--modes)"}
	errNoFlakes    = &problem{http.StatusNotFound, leafException, "snowflake mode is off on this node (--modes)"}
)

func bad(format string, args ...any) error {
	return &problem{http.StatusBadRequest, badParameter, fmt.Sprintf(format, args...)}
}

// methodError refuses a method.
type methodError struct {
	method  string
	allowed []string
}

func (e *methodError) Error() string { return "Request method '" + e.method + "' not supported" }

// tagError is an error about one tag.
type tagError struct {
	tag string
	err error
}

func (e *tagError) Error() string { return e.err.Error() }
func (e *tagError) Unwrap() error { return e.err }

// problemOf finds the status of an error: what may pass is 503, what the caller can change is 4xx, the rest 500.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*methodError](err); ok {
		return &problem{http.StatusMethodNotAllowed, methodException, e.Error()}
	}
	if e, ok := errors.AsType[*alloc.FloorError](err); ok {
		return &problem{http.StatusConflict, leafException, e.Error()}
	}
	p := &problem{http.StatusInternalServerError, leafException, err.Error()}
	switch {
	case errors.Is(err, server.ErrAuthNeeded):
		p.status, p.exception = http.StatusUnauthorized, badCredentials
	case errors.Is(err, server.ErrProtected), strings.HasPrefix(err.Error(), "NOPERM "):
		p.status, p.exception = http.StatusForbidden, accessDenied
	case errors.Is(err, alloc.ErrNoTag), errors.Is(err, alloc.ErrTooManyTags):
		p.status, p.message = http.StatusNotFound, noTag(err)
	case errors.Is(err, alloc.ErrUnavailable), errors.Is(err, snowflake.ErrUnavailable):
		p.status = http.StatusServiceUnavailable
	case errors.Is(err, alloc.ErrClosed), errors.Is(err, snowflake.ErrClosed):
		p.status, p.message = http.StatusServiceUnavailable, "this node is stopping"
	case errors.Is(err, alloc.ErrBadTag), errors.Is(err, alloc.ErrCollation), errors.Is(err, alloc.ErrBatch),
		errors.Is(err, alloc.ErrBadDescription):
		p.status = http.StatusBadRequest
	}
	return p
}

func noTag(err error) string {
	tag := ""
	if e, ok := errors.AsType[*tagError](err); ok {
		tag = " '" + e.tag + "'"
	}
	if errors.Is(err, alloc.ErrTooManyTags) {
		return "tag" + tag + " does not exist, and no more are created by drawing (--max-tags)"
	}
	return "tag" + tag + " does not exist"
}

// springError is what Spring Boot 1.5, and so Leaf, answers with.
type springError struct {
	Timestamp int64  `json:"timestamp"` // Unix milliseconds
	Status    int    `json:"status"`
	Error     string `json:"error"`
	Exception string `json:"exception,omitempty"`
	Message   string `json:"message"`
	Path      string `json:"path"`
}

// fail answers with an error: as a page to people, as JSON to programs.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	switch p.status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Basic realm="redleaf", charset="UTF-8"`)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusMethodNotAllowed:
		if e, ok := errors.AsType[*methodError](err); ok {
			h.Set("Allow", strings.Join(e.allowed, ", "))
		}
	}
	if wantsPage(r) {
		s.errorPage(w, p)
		return
	}
	body, _ := json.Marshal(springError{ // of strings and numbers: it can't fail
		time.Now().UnixMilli(), p.status, http.StatusText(p.status), p.exception, p.message, r.URL.Path,
	})
	h.Set("Content-Type", jsonType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.status)
	_, _ = w.Write(body) // the client may be gone
}
