package sqlstore

import (
	"context"
	"database/sql"
)

// dialect is what the two databases do differently.
type dialect interface {
	// queries returns the texts of the statements.
	queries() [numQueries]string
	// lease runs qLease and returns the new max_id of the rows changed, and how many were.
	lease(ctx context.Context, stmt *sql.Stmt, args ...any) (maxID, rows int64, err error)
	// duplicate reports whether an INSERT failed because the key is there.
	duplicate(err error) bool
	// unheld reports whether a statement failed because no row can have such a tag. It changed nothing.
	unheld(err error) bool
	// unfit reports whether a statement failed because a value does not fit its column. It changed nothing.
	unfit(err error) bool
	// undone reports whether the database rolled the transaction back and asks to try again.
	undone(err error) bool
	// now returns the database's clock in Unix milliseconds, read by the statement or by c.
	now(ctx context.Context, stmt *sql.Stmt, c *clock) (int64, error)
	// integer names the type, in CAST.
	integer() string
	// collation names what decides whether tags are equal.
	collation() string
}
