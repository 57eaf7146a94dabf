package sqlstore

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// target is what a store URL names: a SQLite file, or else a MySQL database.
type target struct {
	file string // as given; "" for MySQL

	user, password string
	host           string // host:port; "" with socket
	socket         string // path of a Unix socket
	database       string
	params         url.Values
}

var errScheme = errors.New("unknown kind of store: want sqlite:FILE or mysql://USER:PASSWORD@HOST:PORT/DATABASE")

// errURL does not quote the URL: it may hold a password.
var errURL = errors.New("not a valid URL: want mysql://USER:PASSWORD@HOST:PORT/DATABASE?PARAM=VALUE, with special characters in the parts percent-encoded (as %40 for @)")

// parseURL reads sqlite:FILE, whose FILE is taken as it stands, or mysql://...
func parseURL(text string) (target, error) {
	scheme, rest, _ := strings.Cut(text, ":")
	switch scheme {
	case "sqlite":
		if rest == "" {
			return target{}, errors.New("sqlite: names no file: want sqlite:FILE")
		}
		return target{file: rest}, nil
	case "mysql":
		return parseMySQL(text)
	}
	return target{}, errScheme
}

func parseMySQL(text string) (target, error) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Fragment != "" || strings.Contains(text, "#") {
		return target{}, errURL
	}
	params, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return target{}, errURL
	}
	t := target{user: u.User.Username(), database: strings.TrimPrefix(u.Path, "/"), params: params}
	t.password, _ = u.User.Password()
	t.socket = params.Get("socket")
	params.Del("socket")
	switch {
	case t.database == "":
		return target{}, errors.New("the URL names no database: want mysql://USER:PASSWORD@HOST:PORT/DATABASE")
	case t.user == "":
		return target{}, errors.New("the URL names no user: want mysql://USER:PASSWORD@HOST:PORT/DATABASE")
	case t.socket != "" && u.Host != "" && u.Hostname() != "localhost":
		return target{}, errors.New("the URL has both a host and a socket")
	case t.socket == "" && u.Hostname() == "":
		return target{}, errors.New("the URL names no host: want mysql://USER:PASSWORD@HOST:PORT/DATABASE")
	case t.socket == "":
		t.host = hostPort(u)
	}
	return t, nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// where names the server, for messages.
func (t target) where() string {
	if t.socket != "" {
		return t.socket
	}
	return t.host
}

// String is the URL without password and parameters.
func (t target) String() string {
	u := url.URL{Scheme: "mysql", User: url.User(t.user), Host: t.host, Path: "/" + t.database}
	if t.socket != "" {
		u.RawQuery = url.Values{"socket": {t.socket}}.Encode()
	}
	return u.String()
}

// Schema returns the DDL for the kind of store that the URL names. Nothing is opened.
func Schema(url string) (string, error) {
	scheme, _, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return sqliteSchema, nil
	case "mysql":
		return mysqlSchema, nil
	}
	return "", errScheme
}
