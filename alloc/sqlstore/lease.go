package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"

	"redleaf/alloc"
)

// Lease implements alloc.Store: one statement, one round trip. database/sql sends it again only after
// driver.ErrBadConn, which both drivers return only when nothing was sent; a repeat would at worst skip a range.
func (s *Store) Lease(ctx context.Context, tag string, n int64) (alloc.Range, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.present(); err != nil {
		return alloc.Range{}, err
	}
	r, err := s.lease(ctx, tag, n)
	return r, explained(err)
}

// explained says more of the driver's error for a connection that is no good: it is also what it makes of a server's
// refusal to write.
func explained(err error) error {
	if errors.Is(err, driver.ErrBadConn) {
		return fmt.Errorf("the database broke the connection, or is read-only: %w", err)
	}
	return err
}

func (s *Store) lease(ctx context.Context, tag string, n int64) (alloc.Range, error) {
	if n < 1 {
		return alloc.Range{}, fmt.Errorf("%d ids asked for: want 1 or more", n)
	}
	for range maxAttempts {
		end, rows, err := s.dialect.lease(ctx, s.stmts[qLease], n, tag, tag, math.MaxInt64-n)
		if s.dialect.unheld(err) {
			rows, err = 0, nil
		}
		switch {
		case s.dialect.undone(err):
			continue
		case err != nil:
			return alloc.Range{}, err
		case rows == 1:
			return alloc.Range{First: end - n, End: end}, nil
		case rows > 1:
			return alloc.Range{}, fmt.Errorf("leaf_alloc has %d rows of the tag: biz_tag must be its primary key", rows)
		}
		if err := s.whyNoLease(ctx, tag, n); err != nil {
			return alloc.Range{}, err
		}
	}
	return alloc.Range{}, errContended
}

// whyNoLease looks at the row that the statement did not change; nil: it has become fit since.
func (s *Store) whyNoLease(ctx context.Context, tag string, n int64) error {
	row, err := s.lookup(ctx, tag)
	switch {
	case err != nil:
		return err
	case row.MaxID > math.MaxInt64-n:
		return fmt.Errorf("%w: max_id is %d, %d more asked for", alloc.ErrExhausted, row.MaxID, n)
	}
	return nil
}

// GiveBack implements alloc.Store.
func (s *Store) GiveBack(ctx context.Context, tag string, end, next int64) (bool, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if next < 1 || next > end {
		return false, fmt.Errorf("giving back: [%d, %d) is no range of ids", next, end)
	}
	n, err := s.execOnce(ctx, qGiveBack, next, tag, tag, end)
	if err != nil {
		return false, fmt.Errorf("giving back: %w", err)
	}
	return n > 0, nil
}

// execOnce sends a statement once and never again, and returns how many rows it met.
//
// A statement run on the pool (sql.DB, sql.Stmt) is sent again, up to three times, after driver.ErrBadConn. go-sql-driver
// returns that only before it wrote a byte, as far as it can know: over TLS a failed write of a whole record counts as
// none. So the statement runs on one connection taken from the pool: sql.Conn.ExecContext has no retry.
func (s *Store) execOnce(ctx context.Context, q query, args ...any) (n int64, err error) {
	if err := s.present(); err != nil {
		return 0, err
	}
	conn, err := s.pool(q).Conn(ctx)
	if err != nil {
		return 0, explained(err)
	}
	// Close only hands the connection back; what it says does not change what the statement did.
	defer func() { _ = conn.Close() }()
	n, err = s.met(conn.ExecContext(ctx, s.dialect.queries()[q], args...))
	return n, explained(err)
}
