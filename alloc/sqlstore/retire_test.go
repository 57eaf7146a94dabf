package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"redleaf/alloc"
	"redleaf/alloc/sqlstore/mariadbtest"
)

// A tag is deleted while another node's statement that makes it waits for the lock: it goes on above the mark that was
// not there when the statement began.
func TestCreateMeetsRetire(t *testing.T) {
	server := mariadbtest.StartPrivate(t)
	for _, tt := range []struct {
		name string
		call func(ctx context.Context, s *Store) error
		mark int64
		want int64 // max_id then, 0: no row
	}{
		{"create", func(ctx context.Context, s *Store) error { return s.Create(ctx, "orders", 10, 0) }, 5000, 5000},
		{"advance above", func(ctx context.Context, s *Store) error { return s.Advance(ctx, "orders", 7000, 10) }, 5000, 7000},
		{"advance below", func(ctx context.Context, s *Store) error {
			err := s.Advance(ctx, "orders", 3000, 10)
			if e, ok := errors.AsType[*alloc.FloorError](err); !ok || e.Floor != 4999 {
				return errors.Join(errors.New("want a floor of 4999"), err)
			}
			return nil
		}, 5000, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := server.Database(t)
			raw := server.Open(t, url)
			s := openStore(t, url)
			tx := begin(t, raw) // what Create and Retire of another node do, in one transaction
			mustExec(t, tx, "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', ?, 10)", tt.mark)
			called := make(chan error, 1)
			go func() { called <- tt.call(t.Context(), s) }()
			awaitLockWaits(t, raw, 1)
			mustExec(t, tx, "INSERT INTO leaf_retired (biz_tag, max_id) VALUES ('orders', ?)", tt.mark)
			mustExec(t, tx, "DELETE FROM leaf_alloc WHERE biz_tag = 'orders'")
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := <-called; err != nil {
				t.Fatal(err)
			}
			if got := queryInt(t, raw, "SELECT COALESCE(MAX(max_id), 0) FROM leaf_alloc"); got != tt.want {
				t.Errorf("max_id is %d, want %d", got, tt.want)
			}
		})
	}
}

// Retire locks the row before it reads it: a lease under way counts.
func TestRetireMeetsLease(t *testing.T) {
	server := mariadbtest.StartPrivate(t)
	url := server.Database(t)
	raw := server.Open(t, url)
	s := openStore(t, url)
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Fatal(err)
	}
	tx := begin(t, raw)
	mustExec(t, tx, "UPDATE leaf_alloc SET max_id = max_id + 500 WHERE biz_tag = 'orders'")
	called := make(chan error, 1)
	go func() { called <- s.Retire(t.Context(), "orders") }()
	awaitLockWaits(t, raw, 1)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-called; err != nil {
		t.Fatal(err)
	}
	if mark := queryInt(t, raw, "SELECT max_id FROM leaf_retired WHERE biz_tag = 'orders'"); mark != 501 {
		t.Errorf("mark is %d, want 501", mark)
	}
}

func begin(t *testing.T, db *sql.DB) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback() })
	return tx
}

// awaitLockWaits polls until n transactions wait for a lock: the server has no other way to say so, and shows a list
// as old as the last look at it if that was within 100 ms.
func awaitLockWaits(t *testing.T, db runner, n int64) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for queryInt(t, db, "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'") != n {
		if time.Now().After(deadline) {
			t.Fatalf("never %d transactions waited for a lock", n)
		}
		pause(t.Context(), 150*time.Millisecond)
	}
}

// The mark of a deleted tag never sinks, even when somebody inserted the row again by hand, lower, and it is deleted again.
func TestRetiredMarkNeverSinks(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, s, _ *Store) {
		if err := errors.Join(s.Advance(t.Context(), "orders", 5000, 10), s.Retire(t.Context(), "orders")); err != nil {
			t.Fatal(err)
		}
		mustExec(t, s.db, "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 10, 10)")
		if err := errors.Join(s.Retire(t.Context(), "orders"), s.Create(t.Context(), "orders", 10, 0)); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Lease(t.Context(), "orders", 10); err != nil || r.First != 5000 {
			t.Errorf("leased %v, %v, want from 5000", r, err)
		}
	})
}

// What a description's column can't hold is refused for good; trying again would change nothing.
func TestDescriptionThatDoesNotFit(t *testing.T) {
	server := mariadbtest.Start(t)
	url := server.Database(t)
	mustExec(t, server.Open(t, url), leafTable+" DEFAULT CHARSET=latin1")
	s := openStore(t, url)
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Configure(t.Context(), "orders", alloc.Settings{Description: new("日本")}); !errors.Is(err, alloc.ErrBadDescription) {
		t.Errorf("%v, want ErrBadDescription", err)
	}
}
