package httpd

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"redleaf/server"
)

// caller returns who sent the request. Without a password it is whoever the Redis port would take it for.
func (s *Server) caller(r *http.Request) (server.Caller, error) {
	if name, password, given := r.BasicAuth(); given {
		return s.cfg.Redis.Authenticate(name, password, isLocal(r))
	}
	return s.cfg.Redis.Anonymous(isLocal(r))
}

// isLocal reports whether the request comes from this machine and was meant for it. A proxy on this machine forwards
// others' requests; and a page of another site, whose name somebody made to point here, has a browser on this machine send
// requests under that name.
func isLocal(r *http.Request) bool {
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header[name] != nil {
			return false
		}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback() && isAddress(r.Host)
}

// isAddress reports whether the host of a request is an address or localhost, not a name that anybody could own.
func isAddress(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if host == "localhost" {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// fromElsewhere reports whether a page of another site made a browser send the request.
func fromElsewhere(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }
