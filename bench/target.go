package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// dialTimeout bounds the connecting to a target that is not there.
const dialTimeout = 10 * time.Second

// A Target is a server to load.
type Target struct {
	Scheme         string // redis, rediss, unix, http or https
	Addr           string // host:port, or the path of a Unix socket
	User, Password string
	Database       string // for SELECT; "" leaves the default
	Template       string // http: path and query, in which {tag} stands for the tag
	TLS            *tls.Config
}

// ParseTarget reads redis://[user:password@]host:port[/database], rediss:// likewise, unix://[user:password@]/path and
// http://host:port/path/{tag}.
func ParseTarget(text string) (Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Target{}, errors.New("a target's URL can't be parsed") // its text may hold a password
	}
	t := Target{Scheme: u.Scheme, Addr: u.Host, User: u.User.Username()}
	t.Password, _ = u.User.Password()
	switch u.Scheme {
	case "redis", "rediss":
		t.Addr = withPort(u, "6379")
		t.Database = strings.Trim(u.Path, "/")
	case "unix":
		t.Addr = u.Host + u.Path
	case "http", "https":
		t.Addr = withPort(u, map[string]string{"http": "80", "https": "443"}[u.Scheme])
		_, rest, _ := strings.Cut(text, "://")
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			t.Template = rest[i:]
		}
		if !strings.Contains(t.Template, "{tag}") {
			return Target{}, fmt.Errorf("%s: the path needs {tag}, as in http://host:8080/api/segment/get/{tag}", t)
		}
	default:
		return Target{}, fmt.Errorf("a target begins with redis://, rediss://, unix://, http:// or https://, not with %q", u.Scheme)
	}
	if t.Addr == "" || t.Scheme != "unix" && u.Hostname() == "" {
		return Target{}, fmt.Errorf("%s: no address", t)
	}
	if u.Scheme == "rediss" || u.Scheme == "https" {
		t.TLS = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	}
	return t, nil
}

func withPort(u *url.URL, port string) string {
	if u.Port() != "" {
		port = u.Port()
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// String returns the URL without the password.
func (t Target) String() string {
	s := t.Scheme + "://" + t.Addr + t.Template
	if t.Database != "" {
		s += "/" + t.Database
	}
	return s
}

// isHTTP says whether ids are asked for by HTTP.
func (t Target) isHTTP() bool { return t.Scheme == "http" || t.Scheme == "https" }

// network is the name that package net has for the transport.
func (t Target) network() string {
	if t.Scheme == "unix" {
		return "unix"
	}
	return "tcp"
}

// dial connects, with TLS where the target speaks it.
func (t Target) dial(ctx context.Context) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialTimeout}
	if t.TLS != nil {
		return (&tls.Dialer{NetDialer: dialer, Config: t.TLS}).DialContext(ctx, t.network(), t.Addr)
	}
	return dialer.DialContext(ctx, t.network(), t.Addr)
}
