package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"
)

// Error numbers of MySQL and MariaDB.
const (
	errTooManyConnections = 1040
	errDatabaseDenied     = 1044
	errAccessDenied       = 1045
	errUnknownDatabase    = 1049
	errShutdown           = 1053
	errDuplicateKey       = 1062
	errHostBlocked        = 1129
	errHostDenied         = 1130
	errTableDenied        = 1142
	errUserConnections    = 1203
	errDeadlock           = 1213
	errUserLimit          = 1226
	errUnknownVariable    = 1193
	errMixedCollations    = 1267
	errBadString          = 1366
	errTooLong            = 1406
	errSocketAuthDenied   = 1698
	errUnheldMariaDB      = 1977
	errUnheldMySQL        = 3854
)

// mysqlDialect knows the column leaf_alloc.biz_tag: an existing Leaf table may have any character set and collation.
type mysqlDialect struct {
	charset string // "" for a binary column
	collate string
}

func (d mysqlDialect) queries() [numQueries]string {
	now := "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000"
	p := phrases{
		newMaxID:  "LAST_INSERT_ID(GREATEST(max_id, 1) + ?)",
		updated:   "CAST(UNIX_TIMESTAMP(update_time) AS SIGNED)",
		forUpdate: " FOR UPDATE",
		upsert:    "ON DUPLICATE KEY UPDATE",
		incoming:  "VALUES(",
		closing:   ")",
		greatest:  "GREATEST",
		integer:   d.integer(),
		// Not UNIX_TIMESTAMP(NOW()), which is off for an hour when the session's time zone leaves summer time.
		now: now,
		// Whether a node lives is not part of the text: a CRC is linear, so that of two nodes which die at once the same bits would
		// change, and cancel.
		digest: "COALESCE(BIT_XOR(CRC32(CONCAT_WS('\n', id, addr, http_addr, version)) * (1 + (COALESCE(?, " + now + ") - seen_ms <= ?))), 0)",
	}
	if d.charset == "" {
		p.key, p.exact, p.fits = "CAST(? AS BINARY)", "biz_tag = CAST(? AS BINARY)", "? = ?"
		return p.queries()
	}
	// The tag in the column's own character set and collation: only so the primary key serves the comparison, whatever
	// characters the tag has. Those that the set cannot hold become '?', which the comparison of bytes then refuses.
	converted := "CONVERT(? USING " + d.charset + ")"
	p.key = converted + " COLLATE " + d.collate
	p.exact = "CAST(CONVERT(biz_tag USING utf8mb4) AS BINARY) = CAST(? AS BINARY)"
	p.fits = "CAST(CONVERT(" + converted + " USING utf8mb4) AS BINARY) = CAST(? AS BINARY)"
	return p.queries()
}

// lease takes the new max_id from the OK packet.
func (mysqlDialect) lease(ctx context.Context, stmt *sql.Stmt, args ...any) (maxID, rows int64, err error) {
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, 0, err
	}
	if rows, err = result.RowsAffected(); err != nil {
		return 0, 0, err
	}
	maxID, err = result.LastInsertId()
	return maxID, rows, err
}

func (mysqlDialect) duplicate(err error) bool { return mysqlCode(err) == errDuplicateKey }

// unheld: where the tag's conversion to the column's character set is part of a change, strict mode has it fail.
func (mysqlDialect) unheld(err error) bool {
	code := mysqlCode(err)
	return code == errUnheldMariaDB || code == errUnheldMySQL
}

func (mysqlDialect) unfit(err error) bool {
	code := mysqlCode(err)
	return code == errMixedCollations || code == errBadString || code == errTooLong
}

func (mysqlDialect) undone(err error) bool { return mysqlCode(err) == errDeadlock }

func (mysqlDialect) now(ctx context.Context, stmt *sql.Stmt, _ *clock) (ms int64, err error) {
	err = stmt.QueryRowContext(ctx).Scan(&ms)
	return ms, err
}

func (mysqlDialect) integer() string { return "SIGNED" }

func (d mysqlDialect) collation() string { return d.collate }

// mysqlCode is the number of an error that the server sent, 0 for other errors.
func mysqlCode(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}
