package sqlstore

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redleaf/alloc"
)

// copyOf copies a file, as a crash or a backup leaves it, with or without its write-ahead log.
func copyOf(t *testing.T, path string, log bool) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if suffix == "" || log {
			writeFile(t, to+suffix, string(text))
		}
	}
	return to
}

// runningStore is a store in use, one tag of which has leased up to 1000, which only the log knows.
func runningStore(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "redleaf.db")
	s := openStore(t, "sqlite:"+path)
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lease(t.Context(), "orders", 1000); err != nil {
		t.Fatal(err)
	}
	return path
}

func leasedFrom(t *testing.T, s *Store) int64 {
	t.Helper()
	r, err := s.Lease(t.Context(), "orders", 1)
	if err != nil {
		t.Fatal(err)
	}
	return r.First
}

// Without the log of a process that did not stop in order the file is one of an earlier time: ids would repeat.
func TestLostLog(t *testing.T) {
	path := runningStore(t)
	for name, leave := range map[string]func(log string) error{
		"missing":   func(string) error { return nil },
		"empty":     func(log string) error { return os.WriteFile(log, nil, 0o600) },
		"no log":    func(log string) error { return os.WriteFile(log, []byte(strings.Repeat("not a log", 99)), 0o600) },
		"truncated": func(log string) error { return os.WriteFile(log, []byte{0x37, 0x7f, 6, 0x82}, 0o600) },
	} {
		lost := copyOf(t, path, false)
		if err := leave(lost + "-wal"); err != nil {
			t.Fatal(err)
		}
		for range 2 { // a refusal changes nothing
			_, err := Open(t.Context(), "sqlite:"+lost, Options{Init: true})
			wantText(t, err, "copy.db-wal is missing", "redleaf recover --gap")
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
	crashed := copyOf(t, path, true)
	for range 2 { // the second time after an orderly stop
		s := openStore(t, "sqlite:"+crashed)
		if first := leasedFrom(t, s); first < 1001 {
			t.Errorf("leased %d again", first)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(crashed + "-wal"); !os.IsNotExist(err) {
			t.Errorf("after an orderly stop there is a log: %v", err)
		}
	}
}

// A lost log that is put back is as if it had never been away, even after a refusal.
func TestLogPutBack(t *testing.T) {
	path := runningStore(t)
	lost := copyOf(t, path, true)
	if err := os.Rename(lost+"-wal", lost+"-away"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), "sqlite:"+lost, Options{}); err == nil {
		t.Fatal("a file without its log was taken")
	}
	if err := os.Rename(lost+"-away", lost+"-wal"); err != nil {
		t.Fatal(err)
	}
	if first := leasedFrom(t, openStore(t, "sqlite:"+lost)); first != 1001 {
		t.Errorf("leased %d, want 1001", first)
	}
}

// The recovery opens a file without its log. Until it has skipped a gap nothing else does, whatever became of it.
func TestRecoverLostLog(t *testing.T) {
	lost := copyOf(t, runningStore(t), false)
	s := openWith(t, "sqlite:"+lost, Options{Recover: true})
	if err := s.Close(); err != nil { // it gave up
		t.Fatal(err)
	}
	_, err := Open(t.Context(), "sqlite:"+lost, Options{})
	wantText(t, err, "redleaf recover --gap")
	s = openWith(t, "sqlite:"+lost, Options{Recover: true})
	if _, err := alloc.Recover(t.Context(), s, alloc.GateConfig{Wait: 300 * time.Millisecond}, 5000); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, "sqlite:"+lost)
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Fatal(err)
	}
	if first := leasedFrom(t, s); first < 5001 {
		t.Errorf("leased from %d after a recovery with a gap of 5000", first)
	}
}

// As long as one process has the file open, the mark stands: the others take away neither it nor the log.
func TestLogOfSeveralProcesses(t *testing.T) {
	path := runningStore(t)
	for range 2 { // as redleaf nodes does beside a server
		other := openWith(t, "sqlite:"+path, Options{})
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Open(t.Context(), "sqlite:"+copyOf(t, path, false), Options{})
	wantText(t, err, "is missing")
	if first := leasedFrom(t, openStore(t, "sqlite:"+copyOf(t, path, true))); first != 1001 {
		t.Errorf("leased %d, want 1001", first)
	}
}

// A page that is no longer what it was is found at the start, not by the lease that needs it.
func TestDamagedPage(t *testing.T) {
	dir := t.TempDir()
	path := sqliteWith(t, dir, "damaged.db", "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 5000, 10)")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	page := queryInt(t, db, "SELECT rootpage FROM sqlite_master WHERE name = 'leaf_alloc'")
	size := queryInt(t, db, "PRAGMA page_size")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("?", int(size))), (page-1)*size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), "sqlite:"+path, Options{Init: true})
	wantText(t, err, path, "damaged")
}

// An empty file beside a log that has something in it is what a damaged disk or a half restored backup leaves.
func TestEmptiedFile(t *testing.T) {
	path := copyOf(t, runningStore(t), true)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), "sqlite:"+path, Options{Init: true})
	wantText(t, err, path+" is empty but "+path+"-wal is not")
}
