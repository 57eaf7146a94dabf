package httpd

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"redleaf/alloc"
	"redleaf/server"
)

// tagDetails is the page of one tag, with the form that changes it.
type tagDetails struct {
	tagView
	MayChange bool
	Form      settingsForm
}

// settingsForm is what was put into the form of a tag, and what was wrong with it.
type settingsForm struct {
	Step, Description, Problem string
	status                     int
}

// createForm is what was put into the form that creates a tag, and what was wrong with it.
type createForm struct {
	May                                    bool
	Tag, First, Step, Description, Problem string
}

// tagPage is /tag?name=.
func (s *Server) tagPage(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	return s.showTag(w, r, who, r.URL.Query().Get("name"), nil)
}

func (s *Server) showTag(w http.ResponseWriter, r *http.Request, who server.Caller, name string, form *settingsForm) error {
	key := s.cfg.Redis.SegmentKey(name)
	if s.cfg.Segments == nil {
		return errNoSegments
	}
	if err := who.May("hgetall", key); err != nil {
		return err
	}
	d := tagDetails{MayChange: who.May("hset", key, "step", "1") == nil}
	live, inUse := s.cfg.Segments.LiveTag(name)
	d.tagView = tagView{live, inUse, s.sampler.of(name)}
	if !inUse {
		st, err := s.cfg.Segments.Status(r.Context(), name)
		if err != nil {
			return &tagError{name, err}
		}
		d.Status = st
	}
	d.Form = settingsForm{Step: strconv.FormatInt(d.Row.Step, 10), Description: d.Row.Description}
	status := http.StatusOK
	if form != nil {
		d.Form, status = *form, form.status
	}
	return s.show(w, status, "tag", frame{Title: name, Refresh: form == nil, User: userName(r, who), Body: d})
}

// createTag is what the dashboard's form sends: a tag that is not there yet.
func (s *Server) createTag(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	f := createForm{Tag: r.FormValue("tag"), First: r.FormValue("first"), Step: r.FormValue("step"), Description: r.FormValue("description")}
	if s.cfg.Segments == nil {
		return errNoSegments
	}
	key := s.cfg.Redis.SegmentKey(f.Tag)
	if err := errors.Join(who.May("info"), who.May("set", key, "0"), who.May("hset", key, "step", "1")); err != nil {
		return err
	}
	if err := s.create(r, f); err != nil {
		p := problemOf(err)
		f.Problem = p.message
		if !wantsPage(r) {
			return err
		}
		return s.showDashboard(w, r, who, p.status, f)
	}
	s.cfg.Logger.Info("tag created", "tag", f.Tag, "user", who.Name(), "client", r.RemoteAddr)
	http.Redirect(w, r, tagLink(f.Tag), http.StatusSeeOther)
	return nil
}

func (s *Server) create(r *http.Request, f createForm) error {
	first, err := number("the first id", f.First, 1)
	if err != nil {
		return err
	}
	settings, err := settingsOf(f.Step, f.Description)
	if err != nil {
		return err
	}
	a := s.cfg.Segments
	switch _, err := a.Status(r.Context(), f.Tag); {
	case err == nil:
		return &problem{http.StatusConflict, leafException, "tag '" + f.Tag + "' is already there"}
	case !errors.Is(err, alloc.ErrNoTag):
		return &tagError{f.Tag, err}
	}
	if err := a.Set(r.Context(), f.Tag, first-1); err != nil {
		return &tagError{f.Tag, err}
	}
	s.catalog.forget()
	if settings.Step == nil && f.Description == "" {
		return nil
	}
	return a.Configure(r.Context(), f.Tag, settings)
}

// changeTag is what the form of a tag's page sends.
func (s *Server) changeTag(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	name := r.FormValue("tag")
	f := settingsForm{Step: r.FormValue("step"), Description: r.FormValue("description")}
	if s.cfg.Segments == nil {
		return errNoSegments
	}
	if err := who.May("hset", s.cfg.Redis.SegmentKey(name), "step", "1"); err != nil {
		return err
	}
	settings, err := settingsOf(f.Step, f.Description)
	if err == nil {
		err = s.cfg.Segments.Configure(r.Context(), name, settings)
	}
	if err != nil {
		p := problemOf(&tagError{name, err})
		f.Problem, f.status = p.message, p.status
		if !wantsPage(r) || p.status == http.StatusNotFound {
			return p
		}
		return s.showTag(w, r, who, name, &f)
	}
	s.catalog.forget()
	s.cfg.Logger.Info("tag changed", "tag", name, "step", f.Step, "user", who.Name(), "client", r.RemoteAddr)
	http.Redirect(w, r, tagLink(name), http.StatusSeeOther)
	return nil
}

// tagLink is the address of a tag's page. The tag stands in the query: in a path, browsers take some names away.
func tagLink(tag string) string { return "/tag?" + url.Values{"name": {tag}}.Encode() }

// settingsOf reads a form's step, which may be left empty, and description.
func settingsOf(step, description string) (s alloc.Settings, err error) {
	s.Description = new(strings.TrimSpace(description))
	if step = strings.TrimSpace(step); step != "" {
		n, err := number("the step", step, 1)
		if err != nil {
			return s, err
		}
		if n > alloc.MaxStep {
			return s, &problem{http.StatusBadRequest, badParameter, alloc.ErrBadStep.Error()}
		}
		s.Step = &n
	}
	return s, nil
}

// number reads a number of a form; what is empty is the least.
func number(what, text string, least int64) (int64, error) {
	text = strings.ReplaceAll(strings.TrimSpace(text), ",", "")
	if text == "" {
		return least, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least {
		return 0, bad("%s must be a number from %d", what, least)
	}
	return n, nil
}
