package sqlstore

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"redleaf/alloc"
	"redleaf/alloc/alloctest"
	"redleaf/alloc/sqlstore/mariadbtest"
)

// Whatever a server's defaults are, the store behaves the same on it.
func TestAwkwardServer(t *testing.T) {
	server := mariadbtest.StartPrivate(t)
	urls := make(chan string, 40)
	for range cap(urls) {
		urls <- server.Database(t)
	}
	admin := server.Open(t, <-urls)
	for _, set := range []string{
		"autocommit = 0", "completion_type = 'CHAIN'", "sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,ORACLE'",
		"tx_isolation = 'SERIALIZABLE'", "sql_safe_updates = 1", "wait_timeout = 2", "sql_select_limit = 1", "time_zone = '+05:00'",
		"max_statement_time = 0.001", "innodb_lock_wait_timeout = 1", "character_set_server = 'latin1'", "collation_connection = 'latin1_swedish_ci'",
		"tx_read_only = 1",
	} {
		mustExec(t, admin, "SET GLOBAL "+set)
	}
	t.Run("conformance", func(t *testing.T) {
		alloctest.Run(t, func(t *testing.T) func() alloc.Store {
			url := <-urls
			return func() alloc.Store { return openStore(t, url) }
		})
	})
	t.Run("session", func(t *testing.T) {
		s := openStore(t, <-urls)
		var autocommit, completion, safe, wait, lock, isolation, mode string
		if err := s.db.QueryRowContext(t.Context(), "SELECT @@autocommit, @@completion_type, @@sql_safe_updates, @@wait_timeout, "+
			"@@innodb_lock_wait_timeout, @@tx_isolation, @@sql_mode").Scan(&autocommit, &completion, &safe, &wait, &lock, &isolation, &mode); err != nil {
			t.Fatal(err)
		}
		got := strings.Join([]string{autocommit, completion, safe, wait, lock, isolation, mode}, " ")
		if want := "1 NO_CHAIN 0 28800 20 READ-COMMITTED STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"; got != want {
			t.Errorf("session has %s, want %s", got, want)
		}
	})
	t.Run("clock", func(t *testing.T) {
		s := openStore(t, <-urls)
		now, err := s.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if off := time.Since(time.UnixMilli(now)).Abs(); off > 10*time.Second {
			t.Errorf("the database's clock is %v off", off)
		}
	})
}

// A binary log of statements refuses READ COMMITTED; and a lazy one is worth a warning.
func TestStatementBinlog(t *testing.T) {
	server := mariadbtest.Start(t, "--log-bin=bin", "--binlog-format=STATEMENT", "--server-id=1", "--sync-binlog=0",
		"--innodb-flush-log-at-trx-commit=2")
	var log bytes.Buffer
	openWith(t, server.Database(t), Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), ConnectTimeout: 10 * time.Second})
	for _, want := range []string{"sync_binlog", "innodb_flush_log_at_trx_commit"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no warning of %s in %s", want, &log)
		}
	}
	alloctest.Run(t, func(t *testing.T) func() alloc.Store {
		url := server.Database(t)
		return func() alloc.Store { return openStore(t, url) }
	})
}
