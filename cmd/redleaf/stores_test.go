package main

import (
	"path/filepath"
	"strconv"
	"testing"

	"redleaf/alloc/sqlstore/mariadbtest"
)

func itoa(n int) string { return strconv.Itoa(n) }

func newSQLite(t *testing.T) string {
	return "sqlite:" + filepath.Join(t.TempDir(), "redleaf.db")
}

func newMariaDB(t *testing.T) string { return mariadbtest.Start(t).Database(t) }

// forEachStore runs a test on a new SQLite file and on a new MariaDB database.
func forEachStore(t *testing.T, test func(t *testing.T, store string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newSQLite(t)) })
	t.Run("mariadb", func(t *testing.T) { test(t, newMariaDB(t)) })
}
