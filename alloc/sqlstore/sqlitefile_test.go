package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"redleaf/alloc"
	"redleaf/snowflake"
)

func TestSQLiteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "redleaf.db")
	_, err := Open(t.Context(), "sqlite:"+path, Options{})
	wantText(t, err, path, "--init")
	s := openStore(t, "sqlite:"+path)
	if got := s.Description(); got != path {
		t.Errorf("described as %q, want %q", got, path)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file %v, %v: want mode 0600", info, err)
	}
	var mode string
	if err := s.db.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "wal" {
		t.Errorf("journal mode %q, %v", mode, err)
	}
	if full := queryInt(t, s.db, "PRAGMA synchronous"); full != 2 {
		t.Errorf("synchronous is %d, want 2 (FULL)", full)
	}
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lease(t.Context(), "orders", 100); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = openWith(t, "sqlite:"+path, Options{}) // no --init for a file that is there
	if r, err := s.Lease(t.Context(), "orders", 1); err != nil || r.First != 101 {
		t.Errorf("leased %v, %v", r, err)
	}
}

func wantText(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", says)
		return
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error has several lines: %q", err)
	}
}

// Paths are taken as they stand.
func TestSQLitePaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b.db", "what?.db", "x?mode=memory", "100%.db", "%41.db", "#1.db", "it's.db", `"q".db`, "a&b=c;.db", "日本.db", `back\slash`, ":memory:", "semi;colon"} {
		s := openStore(t, "sqlite:"+filepath.Join(dir, name))
		if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
	t.Chdir(dir)
	s := openStore(t, "sqlite:100%.db")
	if got, want := s.Description(), filepath.Join(dir, "100%.db"); got != want {
		t.Errorf("described as %q, want %q", got, want)
	}
}

// What is no good as a store is refused with its path, whether or not it may be created.
func TestUnfitFiles(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	writeFile(t, garbage, strings.Repeat("not a database ", 500))
	short := filepath.Join(dir, "short.db")
	writeFile(t, short, "x")
	lost := filepath.Join(dir, "lost.db")
	writeFile(t, lost+"-wal", "log")
	newer := sqliteWith(t, dir, "newer.db", "UPDATE leaf_meta SET value = '99' WHERE name = 'schema'")
	columnless := sqliteWith(t, dir, "columnless.db", "ALTER TABLE leaf_alloc DROP COLUMN step")
	torn := sqliteWith(t, dir, "torn.db", "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := os.Truncate(torn, 5000); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		garbage: "not a SQLite database", short: "not a SQLite database", lost: "lost.db-wal", newer: "newer redleaf", columnless: "no column step",
		torn: "damaged", dir: "not a regular file", filepath.Join(dir, "no", "where.db"): "no such file",
	} {
		for _, create := range []bool{true, false} {
			_, err := Open(t.Context(), "sqlite:"+path, Options{Init: create})
			if create || !strings.Contains(path, "where") {
				wantText(t, err, path, says)
			}
		}
	}
	empty := filepath.Join(dir, "empty.db")
	writeFile(t, empty, "")
	_, err := Open(t.Context(), "sqlite:"+empty, Options{})
	wantText(t, err, empty, "--init")
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sqliteWith makes a store and changes it with SQL.
func sqliteWith(t *testing.T, dir, name, change string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	s := openStore(t, "sqlite:"+path)
	mustExec(t, s.db, change)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Processes that start at once on a new file all start.
func TestSQLiteOpenAtOnce(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "redleaf.db")
	var opening sync.WaitGroup
	for range 8 {
		opening.Go(func() {
			s, err := Open(t.Context(), url, Options{Init: true})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
				t.Error(err)
			}
			s.Close()
		})
	}
	opening.Wait()
}

// Another process holds the write lock: a call ends by its deadline, and the next one works.
func TestSQLiteLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redleaf.db")
	s := openWith(t, "sqlite:"+path, Options{Init: true, StatementTimeout: 300 * time.Millisecond})
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", sqliteDSN(path, time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx := begin(t, other)
	for _, within := range []time.Duration{0, 50 * time.Millisecond} {
		ctx := t.Context()
		if within > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, within)
			defer cancel()
		}
		start := time.Now()
		_, err := s.Lease(ctx, "orders", 5)
		if took := time.Since(start); err == nil || isSentinel(err) || took > time.Second {
			t.Errorf("lease under a lock: %v after %v", err, took)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Lease(t.Context(), "orders", 5); err != nil || r.First != 1 {
		t.Errorf("then leased %v, %v", r, err)
	}
}

// Rows that people wrote by hand.
func TestSQLiteHandWrittenRows(t *testing.T) {
	s := openStore(t, "sqlite:"+filepath.Join(t.TempDir(), "redleaf.db"))
	mustExec(t, s.db, "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('zero', 0, 1), ('', 1, 1), ('spaced ', 1, 1)")
	if r, err := s.Lease(t.Context(), "zero", 5); err != nil || r != (alloc.Range{First: 1, End: 6}) {
		t.Errorf("leased %v from max_id 0, %v: ids start at 1", r, err)
	}
	if _, err := s.Lease(t.Context(), "spaced", 1); !errors.Is(err, alloc.ErrNoTag) {
		t.Errorf("lease from the name without space: %v", err)
	}
	if rows, err := s.List(t.Context(), "", 10); err != nil || len(rows) != 2 {
		t.Errorf("listed %v, %v", rows, err)
	}
}

func TestClock(t *testing.T) {
	c := newClock()
	c.last.Store(time.Now().Add(time.Hour).UnixMilli()) // the wall clock was set back by an hour
	if first, second := c.now(), c.now(); first != second || first != c.last.Load() {
		t.Errorf("%d, then %d", first, second)
	}
	c = newClock()
	c.start = c.start.Add(-time.Minute)
	if off := time.Since(time.UnixMilli(c.now())).Abs(); off > time.Second {
		t.Errorf("%v off", off)
	}
}

// A file that was deleted or replaced is written to no more: whoever opens the path next begins with ids from 1.
func TestSQLiteFileDeletedWhileInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redleaf.db")
	s := openStore(t, "sqlite:"+path)
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 2 { // deleted, then replaced
		_, lease := s.Lease(t.Context(), "orders", 10)
		swap := s.Swap(t.Context(), 0, snowflake.Worker{ID: 1, Token: 1, Until: 5})
		for _, err := range []error{lease, swap, s.Create(t.Context(), "other", 10, 0), s.Retire(t.Context(), "orders")} {
			if err == nil || !strings.Contains(err.Error(), path+" was deleted or replaced") {
				t.Errorf("%v", err)
			}
		}
		if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
