package httpd

import (
	"net/http"
	"strconv"
	"strings"
)

// Content types, as Spring writes them.
const (
	textType = "text/plain;charset=UTF-8"
	jsonType = "application/json;charset=UTF-8"
	htmlType = "text/html;charset=UTF-8"
)

// choose returns which of the media types on offer the request accepts most; the first of equals, and the first when it
// accepts none.
func choose(r *http.Request, offers ...string) string {
	accept := r.Header["Accept"]
	if len(accept) == 0 || len(accept) == 1 && accept[0] == "*/*" {
		return offers[0]
	}
	best, bestQ := offers[0], 0.0
	for _, offer := range offers {
		if q := quality(accept, offer); q > bestQ {
			best, bestQ = offer, q
		}
	}
	return best
}

// quality returns how much the Accept headers like a media type: the most exact range that covers it says so.
func quality(accept []string, offer string) (q float64) {
	major, _, _ := strings.Cut(offer, "/")
	exact := 0
	for _, header := range accept {
		for item := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(item, ";")
			weight := 0
			switch strings.ToLower(strings.TrimSpace(name)) {
			case offer:
				weight = 3
			case major + "/*":
				weight = 2
			case "*/*":
				weight = 1
			}
			if weight > exact {
				exact, q = weight, qualityOf(params)
			}
		}
	}
	return q
}

func qualityOf(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "q") {
			q, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}

// wantsPage reports whether a person with a browser looks at the reply.
func wantsPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/api/") && choose(r, "application/json", "text/html") == "text/html"
}

// wantsData reports whether a page is wanted as data.
func wantsData(r *http.Request) bool {
	return choose(r, "text/html", "application/json") == "application/json"
}
