package sqlstore

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestURLs(t *testing.T) {
	for _, tt := range []struct{ url, net, addr, user, password, database, description string }{
		{"mysql://u:p@h/d", "tcp", "h:3306", "u", "p", "d", "mysql://u@h:3306/d"},
		{"mysql://u@h:3307/d", "tcp", "h:3307", "u", "", "d", "mysql://u@h:3307/d"},
		{"mysql://us%40er:p%40s%2Fs%3A%23%3F@h/d%20b", "tcp", "h:3306", "us@er", "p@s/s:#?", "d b", "mysql://us%40er@h:3306/d%20b"},
		{"mysql://u:p@[::1]:3307/d", "tcp", "[::1]:3307", "u", "p", "d", "mysql://u@[::1]:3307/d"},
		{"mysql://u:p@[fe80::1]/d", "tcp", "[fe80::1]:3306", "u", "p", "d", "mysql://u@[fe80::1]:3306/d"},
		{"mysql://u:p@/d?socket=/run/my%20sql.sock", "unix", "/run/my sql.sock", "u", "p", "d", "mysql://u@/d?socket=%2Frun%2Fmy+sql.sock"},
		{"mysql://u:p@localhost/d?socket=/s)", "unix", "/s)", "u", "p", "d", "mysql://u@/d?socket=%2Fs%29"},
	} {
		target, err := parseURL(tt.url)
		if err != nil {
			t.Errorf("%s: %v", tt.url, err)
			continue
		}
		c, err := mysqlConfig(target, Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Errorf("%s: %v", tt.url, err)
			continue
		}
		if c.Net != tt.net || c.Addr != tt.addr || c.User != tt.user || c.Passwd != tt.password || c.DBName != tt.database {
			t.Errorf("%s: %s %s %s %s %s", tt.url, c.Net, c.Addr, c.User, c.Passwd, c.DBName)
		}
		if got := target.String(); got != tt.description {
			t.Errorf("%s: described as %s, want %s", tt.url, got, tt.description)
		}
	}
}

func TestBadURLs(t *testing.T) {
	for _, url := range []string{
		"", "x", "sqlite:", "postgres://u:secret@h/d", "mysql:", "mysql:x", "mysql://", "mysql://h", "mysql://u:secret@h", "mysql://u:secret@h/",
		"mysql://h/d", "mysql://u:secret@/d", "mysql://u:secret#@h/d", "mysql://u:secret%@h/d", "mysql://u:sec ret@h/d", "mysql://u:secret/x@h/d",
		"mysql://u:secret?x@h/d", "mysql://u:secret@h:port/d", "mysql://u:secret@h/d?a=%zz", "mysql://u:secret@h/d?socket=/s", "mysql://u:secret@h/d?strict=true",
		"mysql://u:secret@h/d?timeout=soon", "mysql://u:secret@h/d?tls=nosuch", "MYSQL", "mysql://u:secret@h:99999999/d",
	} {
		_, err := Open(t.Context(), url, Options{})
		if err == nil {
			t.Errorf("%s: opened", url)
		} else if text := err.Error(); strings.Contains(text, "secret") || strings.Contains(text, "sec ret") || strings.Contains(text, "\n") {
			t.Errorf("%s: %s", url, text)
		}
	}
}

// Parameters that the store needs as they are win, with a warning if the URL says otherwise; the others pass.
func TestURLParameters(t *testing.T) {
	var log bytes.Buffer
	target, err := parseURL("mysql://u:secret@h/d?autocommit=0&sql_mode=ANSI&clientFoundRows=TRUE&charset=latin1&multiStatements=true" +
		"&readTimeout=7s&tls=skip-verify&time_zone=%27%2B05%3A00%27&tx_isolation='SERIALIZABLE'")
	if err != nil {
		t.Fatal(err)
	}
	c, err := mysqlConfig(target, Options{Password: "from file", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if c.Passwd != "from file" || !c.ClientFoundRows || c.MultiStatements || c.ReadTimeout.Seconds() != 7 || c.TLS == nil {
		t.Errorf("config %+v", c)
	}
	if len(c.Params) != 1 || c.Params["time_zone"] != "'+05:00'" {
		t.Errorf("variables %v", c.Params)
	}
	for _, want := range []string{"autocommit", "sql_mode", "charset", "multiStatements", "tx_isolation"} {
		if !strings.Contains(log.String(), "parameter="+want+"\n") {
			t.Errorf("no warning of %s", want)
		}
	}
	if strings.Contains(log.String(), "clientFoundRows") || strings.Contains(log.String(), "secret") {
		t.Errorf("log says %s", &log)
	}
}
