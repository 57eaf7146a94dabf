package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redleaf/alloc"
	"redleaf/alloc/alloctest"
	"redleaf/alloc/sqlstore/mariadbtest"
)

// leafTable is the table as Leaf's documentation creates it; the database's default decides its character set.
const leafTable = `CREATE TABLE leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '',
  max_id bigint(20) NOT NULL DEFAULT '1',
  step int(11) NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (biz_tag)
) ENGINE=InnoDB`

// Existing Leaf tables of other character sets and collations serve the tags that they can keep apart, and refuse the
// others by the collation's name.
func TestLeafTables(t *testing.T) {
	server := mariadbtest.Start(t)
	for _, tt := range []struct{ charset, collation string }{
		{"latin1", "latin1_swedish_ci"}, {"latin1", "latin1_bin"}, {"latin1", "latin1_general_cs"},
		{"utf8mb3", "utf8mb3_general_ci"}, {"utf8mb3", "utf8mb3_bin"}, {"utf8mb4", "utf8mb4_general_ci"},
		{"utf8mb4", "utf8mb4_unicode_520_ci"}, {"utf8mb4", "utf8mb4_nopad_bin"}, {"gbk", "gbk_chinese_ci"},
		{"cp1251", "cp1251_general_ci"}, {"ucs2", "ucs2_general_ci"}, {"utf16", "utf16_unicode_ci"}, {"ascii", "ascii_general_ci"},
		{"swe7", "swe7_swedish_ci"}, {"binary", "binary"},
	} {
		t.Run(tt.collation, func(t *testing.T) {
			url := server.Database(t)
			raw := server.Open(t, url)
			mustExec(t, raw, leafTable+" DEFAULT CHARSET="+tt.charset+" COLLATE="+tt.collation)
			before := showCreate(t, raw)
			s := openStore(t, url)
			kept := createTags(t, s, tt.collation)
			t.Logf("keeps %d of %d odd tags", len(kept), len(alloctest.OddTags()))
			checkKept(t, s, kept)
			checkIndex(t, raw, s.dialect)
			if after := showCreate(t, raw); after != before {
				t.Errorf("the table was altered to %s", after)
			}
		})
	}
}

// createTags creates the odd tags and returns those that the table took.
func createTags(t *testing.T, s *Store, collation string) (kept []string) {
	t.Helper()
	for _, tag := range alloctest.OddTags() {
		if collation == "binary" && len(tag) > alloc.MaxTag {
			continue // the column then counts bytes
		}
		err := s.Create(t.Context(), tag, 10, 0)
		if err == nil {
			kept = append(kept, tag)
			continue
		}
		_, leaseErr := s.Lease(t.Context(), tag, 1)
		for _, err := range []error{err, leaseErr, s.Advance(t.Context(), tag, 1000, 1), s.Retire(t.Context(), tag)} {
			if !errors.Is(err, alloc.ErrCollation) || !strings.Contains(err.Error(), collation) {
				t.Errorf("tag %q: %v, want ErrCollation that names %s", tag, err, collation)
			}
		}
	}
	return kept
}

// checkKept leases from each tag and pages through them.
func checkKept(t *testing.T, s *Store, kept []string) {
	t.Helper()
	for i, tag := range kept {
		if err := s.Advance(t.Context(), tag, int64(1000*(i+1)), 1); err != nil {
			t.Fatalf("tag %q: %v", tag, err)
		}
		if r, err := s.Lease(t.Context(), tag, 7); err != nil || r.First != int64(1000*(i+1)) {
			t.Errorf("tag %q: leased %v, %v", tag, r, err)
		}
		if done, err := s.GiveBack(t.Context(), tag, int64(1000*(i+1)+7), int64(1000*(i+1)+2)); !done || err != nil {
			t.Errorf("tag %q: gave back %v, %v", tag, done, err)
		}
	}
	var listed []string
	for after := ""; ; after = listed[len(listed)-1] {
		rows, err := s.List(t.Context(), after, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 || len(listed) > len(kept) {
			break
		}
		for _, row := range rows {
			listed = append(listed, row.Tag)
		}
	}
	slices.Sort(listed)
	if want := slices.Sorted(slices.Values(kept)); !slices.Equal(listed, want) {
		t.Errorf("listed %q, want %q", listed, want)
	}
}

// checkIndex looks at the plans: the primary key finds the row, whatever the tag.
func checkIndex(t *testing.T, db *sql.DB, d dialect) {
	t.Helper()
	lookup := d.queries()[qLookup]
	for _, tag := range []string{"orders", "a", "🍃", "日本"} {
		plan := explain(t, db, "EXPLAIN "+lookup, tag, tag)
		if key := plan["key"]; key != "PRIMARY" && plan["Extra"] != "Impossible WHERE noticed after reading const tables" {
			t.Errorf("look-up of %q does not use the key: %v", tag, plan)
		}
		plan = explain(t, db, "EXPLAIN "+d.queries()[qLease], 1, tag, tag, 1000)
		if plan["key"] != "PRIMARY" || plan["type"] != "range" || plan["rows"] != "1" {
			t.Errorf("lease from %q does not use the key: %v", tag, plan)
		}
	}
}

func explain(t *testing.T, db *sql.DB, query string, args ...any) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, dest := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range values {
		dest[i] = &values[i]
	}
	plan := map[string]string{}
	if !rows.Next() {
		t.Fatalf("no plan: %v", rows.Err())
	}
	if err := rows.Scan(dest...); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		plan[name] = values[i].String
	}
	return plan
}

// A row that people wrote by hand in ways that Leaf's table allows.
func TestHandWrittenRows(t *testing.T) {
	server := mariadbtest.Start(t)
	url := server.Database(t)
	raw := server.Open(t, url)
	mustExec(t, raw, leafTable)
	mustExec(t, raw, "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES "+
		"('orders', 1, 2000, NULL), ('zero', 0, 1, ''), ('negative', -50, 1, ''), ('spaced  ', 5, 1, ''), ('', 1, 1, '')")
	s := openStore(t, url)
	if r, err := s.Lease(t.Context(), "orders", 2000); err != nil || r.First != 1 {
		t.Errorf("leased %v, %v", r, err)
	}
	for _, tag := range []string{"zero", "negative"} {
		if r, err := s.Lease(t.Context(), tag, 5); err != nil || r != (alloc.Range{First: 1, End: 6}) {
			t.Errorf("leased %v from %s, %v: ids start at 1", r, tag, err)
		}
	}
	if _, err := s.Lease(t.Context(), "spaced", 1); !errors.Is(err, alloc.ErrCollation) {
		t.Errorf("lease from the name without spaces: %v, want ErrCollation", err)
	}
	var listed []string
	for after := ""; len(listed) < 10; after = listed[len(listed)-1] {
		rows, err := s.List(t.Context(), after, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			listed = append(listed, row.Tag)
		}
	}
	if len(listed) != 4 { // a row without a name is no tag
		t.Errorf("listed %q", listed)
	}
}

func isSentinel(err error) bool {
	return errors.Is(err, alloc.ErrNoTag) || errors.Is(err, alloc.ErrExhausted) || errors.Is(err, alloc.ErrCollation)
}

// openStore opens a store with a long timeout: other tests of the machine run beside this one.
func openStore(t *testing.T, url string) *Store {
	t.Helper()
	return openWith(t, url, Options{Init: true, StatementTimeout: 20 * time.Second, ConnectTimeout: 20 * time.Second})
}

func openWith(t *testing.T, url string, opts Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func mustExec(t *testing.T, db runner, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.WithoutCancel(t.Context()), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func showCreate(t *testing.T, db *sql.DB) (ddl string) {
	t.Helper()
	var name string
	if err := db.QueryRowContext(t.Context(), "SHOW CREATE TABLE leaf_alloc").Scan(&name, &ddl); err != nil {
		t.Fatal(err)
	}
	return ddl
}

func queryInt(t *testing.T, db runner, query string) (n int64) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", query, err))
	}
	return n
}
