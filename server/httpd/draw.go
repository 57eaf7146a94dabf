package httpd

import (
	"bufio"
	"net/http"
	"strconv"

	"redleaf/alloc"
	"redleaf/server"
)

// longestDraw is how many seconds one request of snowflake ids may take.
const longestDraw = 5

// run is consecutive ids. A reply is made of few of them, however many ids it has.
type run struct{ first, n int64 }

// wanted is what a request for ids asks for.
type wanted struct {
	key     string
	n       int64
	list    bool // a list, even of one
	text    bool // lines, not JSON
	strings bool // JSON strings: numbers above 2^53 are not exact everywhere
}

// wants reads the request. Its ids are not for pages of other sites, which could only waste them.
func (s *Server) wants(r *http.Request) (q wanted, err error) {
	q = wanted{key: r.PathValue("key"), n: 1}
	if fromElsewhere(r) {
		return q, errCrossOrigin
	}
	if r.URL.RawQuery != "" {
		query := r.URL.Query()
		if n := query.Get("n"); n != "" {
			q.list = true
			if q.n, err = strconv.ParseInt(n, 10, 64); err != nil || q.n < 1 || q.n > s.cfg.MaxBatch {
				return q, bad("n must be a number from 1 to %d (--max-batch)", s.cfg.MaxBatch)
			}
		}
		switch format := query.Get("format"); format {
		case "", "number":
		case "string":
			q.strings = true
		default:
			return q, bad("format must be number or string")
		}
	}
	offers := [2]string{"text/plain", "application/json"}
	if q.list {
		offers[0], offers[1] = offers[1], offers[0]
	}
	q.text = choose(r, offers[0], offers[1]) == "text/plain"
	return q, nil
}

func noKey(*Server, http.ResponseWriter, *http.Request, server.Caller) error { return errNoKey }

// getSegment is /api/segment/get/{key}: the next id of the tag, or the next n.
func (s *Server) getSegment(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	q, err := s.wants(r)
	if err == nil {
		err = who.May("incr", s.cfg.Redis.SegmentKey(q.key))
	}
	switch {
	case err != nil:
		return err
	case s.cfg.Segments == nil:
		return errNoSegments
	}
	if first, got := s.cfg.Segments.Take([]byte(q.key), q.n); got == q.n {
		return q.reply(w, []run{{first, got}})
	} else if got > 0 {
		return s.drawSegment(w, r, q, run{first, got})
	}
	return s.drawSegment(w, r, q)
}

// drawSegment draws what is missing behind the runs that are there.
func (s *Server) drawSegment(w http.ResponseWriter, r *http.Request, q wanted, runs ...run) error {
	missing := q.n
	for _, have := range runs {
		missing -= have.n
	}
	err := s.cfg.Segments.Draw(r.Context(), q.key, missing, func(first, n int64) { runs = append(runs, run{first, n}) })
	if err != nil {
		return &tagError{q.key, err}
	}
	return q.reply(w, runs)
}

// getSnowflake is /api/snowflake/get/{key}: a new snowflake id, or n. The key is a label: it makes no difference.
func (s *Server) getSnowflake(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	q, err := s.wants(r)
	if err == nil {
		err = who.May("get", "snowflake:"+q.key)
	}
	if err == nil {
		err = alloc.CheckTag(q.key)
	}
	node := s.cfg.Snowflakes
	switch {
	case err != nil:
		return err
	case node == nil:
		return errNoFlakes
	case q.n > longestDraw*node.PerSecond():
		return bad("n: with this layout %d ids are as many as %d seconds give", longestDraw*node.PerSecond(), longestDraw)
	}
	var runs []run
	if err := node.Draw(r.Context(), q.n, func(first, n int64) { runs = append(runs, run{first, n}) }); err != nil {
		return err
	}
	return q.reply(w, runs)
}

// getRange is /api/segment/range/{key}?n=: n consecutive ids, of which the reply names the first and the last.
func (s *Server) getRange(w http.ResponseWriter, r *http.Request, who server.Caller) error {
	q, err := s.wants(r)
	if err == nil {
		err = who.May("incrby", s.cfg.Redis.SegmentKey(q.key), strconv.FormatInt(q.n, 10))
	}
	switch {
	case err != nil:
		return err
	case s.cfg.Segments == nil:
		return errNoSegments
	case !q.list:
		return &problem{http.StatusBadRequest, missingParameter, "Required long parameter 'n' is not present"}
	}
	first, err := s.cfg.Segments.Reserve(r.Context(), q.key, q.n)
	if err != nil {
		return &tagError{q.key, err}
	}
	q.replyRange(w, first)
	return nil
}

func (q wanted) replyRange(w http.ResponseWriter, first int64) {
	body := make([]byte, 0, 96)
	if q.text {
		body = append(strconv.AppendInt(body, first, 10), ' ')
		body = append(strconv.AppendInt(body, first+q.n-1, 10), '\n')
	} else {
		body = q.appendID(append(body, `{"first":`...), first)
		body = q.appendID(append(body, `,"last":`...), first+q.n-1)
		body = strconv.AppendInt(append(body, `,"count":`...), q.n, 10)
		body = append(body, '}')
	}
	q.header(w)
	_, _ = w.Write(body) // the client may be gone
}

func (q wanted) header(w http.ResponseWriter) {
	h := w.Header()
	h["Cache-Control"] = []string{"no-store"}
	if q.text {
		h["Content-Type"] = []string{textType}
	} else {
		h["Content-Type"] = []string{jsonType}
	}
}

// reply writes the ids. All of them are drawn: the status is true.
func (q wanted) reply(w http.ResponseWriter, runs []run) error {
	q.header(w)
	if !q.list {
		var buf [24]byte
		body := strconv.AppendInt(buf[:0], runs[0].first, 10)
		if !q.text {
			body = q.appendID(buf[:0], runs[0].first)
		}
		_, _ = w.Write(body) // the client may be gone
		return nil
	}
	out := bufio.NewWriterSize(w, 32<<10)
	q.writeList(out, runs)
	_ = out.Flush() // the client may be gone
	return nil
}

func (q wanted) writeList(out *bufio.Writer, runs []run) {
	if !q.text {
		_ = out.WriteByte('[')
	}
	var buf [24]byte
	begun := false
	for _, r := range runs {
		for id := r.first; id < r.first+r.n; id++ {
			b := buf[:0]
			if begun && !q.text {
				b = append(b, ',')
			}
			begun = true
			if q.text {
				b = append(strconv.AppendInt(b, id, 10), '\n')
			} else {
				b = q.appendID(b, id)
			}
			if _, err := out.Write(b); err != nil {
				return
			}
		}
	}
	if !q.text {
		_ = out.WriteByte(']')
	}
}

// appendID appends the id as a JSON number or string.
func (q wanted) appendID(b []byte, id int64) []byte {
	if !q.strings {
		return strconv.AppendInt(b, id, 10)
	}
	return append(strconv.AppendInt(append(b, '"'), id, 10), '"')
}
