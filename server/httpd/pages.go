package httpd

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"redleaf/server"
)

//go:embed templates static
var files embed.FS

// policy lets pages load nothing from elsewhere, and run no script but ours.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// pages are the templates by name.
type pages map[string]*template.Template

func parsePages() (pages, error) {
	all := pages{}
	for _, name := range []string{"dashboard", "cache", "db", "tag", "error"} {
		t, err := template.New("layout.html").Funcs(formatters()).ParseFS(files, "templates/layout.html", "templates/parts.html", "templates/"+name+".html")
		if err != nil {
			return nil, err
		}
		all[name] = t
	}
	return all, nil
}

// frame is what every page shows around its own part.
type frame struct {
	Title   string
	Place   string // which entry of the menu it is
	Refresh bool   // it shows what changes
	User    string // "" where no password is needed
	Node    string
	Version string
	Body    any
}

// show answers with a page. It is made whole before the first byte is sent.
func (s *Server) show(w http.ResponseWriter, status int, name string, f frame) error {
	f.Version, f.Node = s.cfg.Version, s.cfg.NodeID
	var page bytes.Buffer
	if err := s.pages[name].Execute(&page, f); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", htmlType)
	h.Set("Content-Length", strconv.Itoa(page.Len()))
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // the client may be gone
	return nil
}

func (s *Server) errorPage(w http.ResponseWriter, p *problem) {
	message := p.message
	if p == errNotFound {
		message = "There is nothing here."
	}
	err := s.show(w, p.status, "error", frame{Title: http.StatusText(p.status), Body: struct {
		Status  int
		Text    string
		Message string
	}{p.status, http.StatusText(p.status), message}})
	if err != nil {
		s.cfg.Logger.Error("the error page can't be made", "err", err)
		http.Error(w, message, p.status)
	}
}

// userName is what pages call the caller.
func userName(r *http.Request, who server.Caller) string {
	if _, _, given := r.BasicAuth(); given {
		return who.Name()
	}
	return ""
}

// static is /static/: our style, script and icon.
func (s *Server) static(w http.ResponseWriter, r *http.Request, _ server.Caller) error {
	name := r.PathValue("file")
	content, err := files.ReadFile("static/" + name)
	if err != nil || strings.Contains(name, "/") {
		return errNotFound
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+strconv.FormatInt(s.started.UnixNano(), 36)+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	return nil
}

// favicon is what browsers ask for when a page is no page.
func (s *Server) favicon(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	r.SetPathValue("file", "icon.svg")
	return s.static(w, r, who)
}
