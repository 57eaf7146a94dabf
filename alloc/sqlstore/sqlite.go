package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

type sqliteDialect struct{}

func (d sqliteDialect) queries() [numQueries]string {
	return phrases{
		key:      "?",
		exact:    "CAST(biz_tag AS BLOB) = CAST(? AS BLOB)",
		fits:     "? = ?",
		newMaxID: "MAX(max_id, 1) + ?",
		leased:   " RETURNING max_id",
		updated:  "CAST(strftime('%s', update_time) AS INTEGER)",
		upsert:   "ON CONFLICT ({key}) DO UPDATE SET",
		incoming: "excluded.",
		greatest: "MAX",
		integer:  d.integer(),
		now:      "0", // the clock is this machine's
		digest:   "? + ?",
	}.queries()
}

// lease reads to the end of the rows: the last step is what commits a statement with RETURNING.
func (sqliteDialect) lease(ctx context.Context, stmt *sql.Stmt, args ...any) (maxID, n int64, err error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(&maxID); err != nil {
			return 0, 0, err
		}
		n++
	}
	return maxID, n, rows.Err()
}

func (sqliteDialect) duplicate(err error) bool {
	return sqliteCode(err) == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}

func (sqliteDialect) unheld(error) bool { return false }

func (sqliteDialect) unfit(error) bool { return false }

// undone: a transaction takes the write lock first, so that there are no deadlocks.
func (sqliteDialect) undone(error) bool { return false }

func (sqliteDialect) now(ctx context.Context, _ *sql.Stmt, c *clock) (int64, error) {
	return c.now(), ctx.Err()
}

func (sqliteDialect) integer() string { return "INTEGER" }

func (sqliteDialect) collation() string { return "BINARY" }

// sqliteCode is the extended result code of a SQLite error, 0 for other errors. The primary code is its low byte.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}
