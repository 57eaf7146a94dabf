package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"redleaf/server"
	"redleaf/snowflake"
)

// decodeFailed is what Leaf says of a text that is no id.
const decodeFailed = "snowflake Id反解析发生异常!"

// decode is /decodeSnowflakeId?snowflakeId=, in Leaf's fields. Its time is this machine's, as Leaf's is.
func (s *Server) decode(w http.ResponseWriter, r *http.Request, _ server.Caller) error {
	text, given := r.FormValue("snowflakeId"), r.Form.Has("snowflakeId")
	if !given {
		return &problem{http.StatusBadRequest, missingParameter, "Required String parameter 'snowflakeId' is not present"}
	}
	status, fields := leafParts(s.cfg.Layout, text)
	writeJSON(w, status, fields)
	return nil
}

// leafParts returns what Leaf answers.
func leafParts(l snowflake.Layout, text string) (status int, fields map[string]string) {
	parts, err := decodeID(l, text)
	if err != nil {
		return http.StatusBadRequest, map[string]string{"errorMsg": decodeFailed}
	}
	return http.StatusOK, map[string]string{
		"timestamp":  fmt.Sprintf("%d(%s)", parts.Time.UnixMilli(), parts.Time.Local().Format("2006-01-02 15:04:05.000")),
		"workerId":   strconv.Itoa(parts.Worker),
		"sequenceId": strconv.FormatInt(parts.Sequence, 10),
	}
}

func decodeID(l snowflake.Layout, text string) (snowflake.Parts, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return snowflake.Parts{}, fmt.Errorf("%q is not a decimal 64-bit id", text)
	}
	return l.Decode(id)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the client may be gone
}
