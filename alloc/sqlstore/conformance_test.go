package sqlstore_test

import (
	"path/filepath"
	"testing"
	"time"

	"redleaf/alloc"
	"redleaf/alloc/alloctest"
	"redleaf/alloc/sqlstore"
	"redleaf/alloc/sqlstore/mariadbtest"
	"redleaf/snowflake"
	"redleaf/snowflake/windowstest"
)

// patient is for tests that are not about timeouts: other tests of the machine run beside them.
func patient() sqlstore.Options {
	return sqlstore.Options{Init: true, StatementTimeout: 20 * time.Second, ConnectTimeout: 20 * time.Second}
}

func open(t *testing.T, url string, opts sqlstore.Options) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSQLiteConformance(t *testing.T) {
	alloctest.Run(t, func(t *testing.T) func() alloc.Store {
		url := "sqlite:" + filepath.Join(t.TempDir(), "redleaf.db")
		return func() alloc.Store { return open(t, url, patient()) }
	})
}

func TestMariaDBConformance(t *testing.T) {
	server := mariadbtest.Start(t)
	alloctest.Run(t, func(t *testing.T) func() alloc.Store {
		url := server.Database(t)
		return func() alloc.Store { return open(t, url, patient()) }
	})
}

func TestSQLiteStricts(t *testing.T) {
	alloctest.RunStricts(t, func(t *testing.T) func() alloc.Stricts {
		url := "sqlite:" + filepath.Join(t.TempDir(), "redleaf.db")
		return func() alloc.Stricts { return open(t, url, patient()) }
	})
}

func TestMariaDBStricts(t *testing.T) {
	server := mariadbtest.Start(t)
	alloctest.RunStricts(t, func(t *testing.T) func() alloc.Stricts {
		url := server.Database(t)
		return func() alloc.Stricts { return open(t, url, patient()) }
	})
}

func TestSQLiteWindows(t *testing.T) {
	windowstest.Run(t, func(t *testing.T) windowstest.Handles {
		url := "sqlite:" + filepath.Join(t.TempDir(), "redleaf.db")
		return func() snowflake.Windows { return open(t, url, patient()) }
	})
}

func TestMariaDBWindows(t *testing.T) {
	server := mariadbtest.Start(t)
	windowstest.Run(t, func(t *testing.T) windowstest.Handles {
		url := server.Database(t)
		return func() snowflake.Windows { return open(t, url, patient()) }
	})
}
