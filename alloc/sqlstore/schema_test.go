package sqlstore

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"redleaf/alloc"
	"redleaf/alloc/sqlstore/mariadbtest"
)

// Nodes that start at once on an empty database all start, and with all tables there no CREATE right is needed.
func TestRights(t *testing.T) {
	server := mariadbtest.Start(t)
	url := server.Database(t)
	admin := server.Open(t, url)
	database := url[strings.LastIndexByte(url, '/')+1:]
	mustExec(t, admin, "CREATE USER IF NOT EXISTS clerk@'%' IDENTIFIED BY 'pass'")
	mustExec(t, admin, "GRANT SELECT, INSERT, UPDATE, DELETE ON "+database+".* TO clerk@'%'")
	t.Cleanup(func() { mustExec(t, admin, "DROP USER clerk@'%'") })
	clerk := "mysql://clerk:pass@" + server.Addr() + "/" + database
	wantRefusal(t, clerk, "leaf_alloc is missing", "redleaf schema")

	var opening sync.WaitGroup
	for range 6 {
		opening.Go(func() {
			s, err := Open(t.Context(), url, Options{StatementTimeout: 20 * time.Second})
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	opening.Wait()
	s := openStore(t, clerk)
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Error(err)
	}
	if err := errors.Join(s.Retire(t.Context(), "orders"), s.Ping(t.Context()), s.Beat(t.Context(), alloc.Node{ID: "x"})); err != nil {
		t.Error(err)
	}
	if got, want := s.Description(), "mysql://clerk@"+server.Addr()+"/"+database; got != want {
		t.Errorf("described as %q, want %q", got, want)
	}
	wantRefusal(t, "mysql://clerk:wrong@"+server.Addr()+"/"+database, "check user and password", server.Addr())
	wantRefusal(t, "mysql://clerk:pass@"+server.Addr()+"/elsewhere", "may not use this database")
	root := strings.Replace(url, database, "no_such_database", 1)
	wantRefusal(t, root, "no such database")
	if socket := server.Socket(); socket != "" {
		s := openStore(t, "mysql://clerk:pass@/"+database+"?socket="+socket)
		if err := s.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	}
	wantRefusal(t, url+"?tls=true", "TLS")
	wantRefusal(t, url+"?no_such_variable=1", "neither the driver nor the server knows")
}

// wantRefusal checks that Open fails at once, with one line that says all of says and no password.
func wantRefusal(t *testing.T, url string, says ...string) {
	t.Helper()
	start := time.Now()
	s, err := Open(t.Context(), url, Options{ConnectTimeout: time.Minute})
	if err == nil {
		s.Close()
		t.Errorf("opened, want an error that says %q", says)
		return
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if text := err.Error(); strings.ContainsAny(text, "\r\n") || strings.Contains(text, "p@ss") || strings.Contains(text, "p%40ss") {
		t.Errorf("error has several lines or the password: %q", text)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("refused after %v", took)
	}
}

// Tables that cannot do what the store needs are refused by name.
func TestUnfitTables(t *testing.T) {
	server := mariadbtest.Start(t)
	for _, tt := range []struct {
		name string
		sql  []string
		says []string
	}{
		{"MyISAM", []string{strings.Replace(leafTable, "InnoDB", "MyISAM", 1)}, []string{"leaf_alloc", "MyISAM"}},
		{"Aria", []string{strings.Replace(leafTable, "InnoDB", "Aria", 1)}, []string{"leaf_alloc", "Aria"}},
		{"MEMORY", []string{strings.Replace(leafTable, "InnoDB", "MEMORY", 1)}, []string{"leaf_alloc", "MEMORY"}},
		{"view", []string{strings.Replace(leafTable, "leaf_alloc", "t", 1), "CREATE VIEW leaf_alloc AS SELECT * FROM t"}, []string{"leaf_alloc", "VIEW"}},
		{"no step", []string{"CREATE TABLE leaf_alloc (biz_tag varchar(128) PRIMARY KEY, max_id bigint)"}, []string{"leaf_alloc", "step"}},
		{"newer", []string{"CREATE TABLE leaf_meta (name varchar(64) PRIMARY KEY, value varchar(255))", "INSERT INTO leaf_meta VALUES ('schema', '99')"}, []string{"99", "newer redleaf"}},
		{"version", []string{"CREATE TABLE leaf_meta (name varchar(64) PRIMARY KEY, value varchar(255))", "INSERT INTO leaf_meta VALUES ('schema', 'x')"}, []string{"leaf_meta", `"x"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := server.Database(t)
			raw := server.Open(t, url)
			for _, statement := range tt.sql {
				mustExec(t, raw, statement)
			}
			wantRefusal(t, url, tt.says...)
		})
	}
}

// The DDL that Schema prints makes all tables, and every table's columns are read out of it.
func TestSchema(t *testing.T) {
	for url, want := range map[string]string{"sqlite:x.db": sqliteSchema, "mysql://u:p@h/d": mysqlSchema} {
		ddl, err := Schema(url)
		if err != nil || ddl != want {
			t.Errorf("Schema(%q): %v", url, err)
		}
		all := tables(ddl)
		if len(all) != 7 {
			t.Errorf("%d tables", len(all))
		}
		columns := map[string]int{"leaf_alloc": 5, "leaf_retired": 3, "leaf_worker": 5, "leaf_node": 9, "leaf_meta": 2, "leaf_strict": 6, "leaf_strict_node": 4}
		for _, table := range all {
			if len(table.columns) != columns[table.name] {
				t.Errorf("table %s has columns %q", table.name, table.columns)
			}
		}
	}
	if _, err := Schema("postgres://x"); err == nil {
		t.Error("Schema of an unknown kind of store")
	}
}
