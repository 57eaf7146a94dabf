package httpd

import (
	"net/http"
	"time"

	"redleaf/server"
)

// leafPageTags is how many tags Leaf's pages show at a time.
const leafPageTags = 200

// bufferView is a tag's two buffers in Leaf's fields. The current one is always the first.
type bufferView struct {
	Key       string `json:"key"`
	Value0    int64  `json:"value0"`
	Step0     int64  `json:"step0"`
	Max0      int64  `json:"max0"`
	Value1    int64  `json:"value1"`
	Step1     int64  `json:"step1"`
	Max1      int64  `json:"max1"`
	Pos       int    `json:"pos"`
	NextReady bool   `json:"nextReady"`
	InitOk    bool   `json:"initOk"`
}

func (t tagView) buffers() bufferView {
	v := bufferView{
		Key: t.Tag(), Value0: t.Current.First, Max0: t.Current.End, Step0: t.Size,
		NextReady: t.Segments > 0, InitOk: t.Size > 0,
	}
	if v.NextReady {
		v.Value1, v.Max1, v.Step1 = t.Queued.First, t.Queued.End, t.Next
	}
	return v
}

// rowView is a row of leaf_alloc in the fields of Leaf's class.
type rowView struct {
	Key         string `json:"key"`
	MaxID       int64  `json:"maxId"`
	Step        int64  `json:"step"`
	UpdateTime  string `json:"updateTime"`
	Description string `json:"description"`
}

func viewRow(t tagView) rowView {
	updated := ""
	if !t.Row.Updated.IsZero() {
		updated = t.Row.Updated.UTC().Format(time.DateTime)
	}
	return rowView{t.Tag(), t.Row.MaxID, t.Row.Step, updated, t.Row.Description}
}

// cachePage is /cache: the buffers of the tags in use here. As JSON they are an object by tag, and all of them.
func (s *Server) cachePage(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	if err := s.mayList(who); err != nil {
		return err
	}
	asJSON := wantsData(r)
	q := queryOf(r.URL.Query(), leafPageTags)
	if asJSON {
		q.Size = 0
	}
	list := s.findLive(who, q)
	if !asJSON {
		rows := make([]bufferView, 0, len(list.Tags))
		for _, t := range list.Tags {
			rows = append(rows, t.buffers())
		}
		return s.showList(w, r, who, "cache", list, rows)
	}
	data := make(map[string]bufferView, len(list.Tags))
	for _, t := range list.Tags {
		data[t.Tag()] = t.buffers()
	}
	writeJSON(w, http.StatusOK, data)
	return nil
}

// dbPage is /db: the rows of leaf_alloc. As JSON they are a list, of all of them.
func (s *Server) dbPage(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	if err := s.mayList(who); err != nil {
		return err
	}
	asJSON := wantsData(r)
	q := queryOf(r.URL.Query(), leafPageTags)
	if asJSON {
		q.Size = 0
	}
	list := s.findTags(r.Context(), who, q)
	if list.ReadAt.IsZero() && list.Err != nil {
		return list.Err
	}
	rows := make([]rowView, 0, len(list.Tags))
	for _, t := range list.Tags {
		rows = append(rows, viewRow(t))
	}
	if !asJSON {
		return s.showList(w, r, who, "db", list, rows)
	}
	writeJSON(w, http.StatusOK, rows)
	return nil
}

func (s *Server) mayList(who server.Caller) error {
	if s.cfg.Segments == nil {
		return errNoSegments
	}
	return who.May("scan", "0")
}

func (s *Server) showList(w http.ResponseWriter, r *http.Request, who server.Caller, name string, list tagList, rows any) error {
	titles := map[string]string{"cache": "Cache", "db": "Table"}
	return s.show(w, http.StatusOK, name, frame{Title: titles[name], Place: name, Refresh: true, User: userName(r, who), Body: struct {
		List tagList
		Rows any
	}{list, rows}})
}
