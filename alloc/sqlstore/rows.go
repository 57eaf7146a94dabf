package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"redleaf/alloc"
)

// Lookup implements alloc.Store.
func (s *Store) Lookup(ctx context.Context, tag string) (alloc.Row, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return s.lookup(ctx, tag)
}

// lookup reads the row of an equal name and tells it from the row asked for.
func (s *Store) lookup(ctx context.Context, tag string) (alloc.Row, error) {
	var exact bool
	row, err := scanRow(s.stmts[qLookup].QueryRowContext(ctx, tag, tag), &exact)
	if errors.Is(err, sql.ErrNoRows) {
		return alloc.Row{}, s.missing(ctx, tag)
	}
	if err != nil {
		return alloc.Row{}, err
	}
	if !exact {
		return alloc.Row{}, fmt.Errorf("%w: leaf_alloc.biz_tag is %s, where '%s' equals the row '%s'",
			alloc.ErrCollation, s.dialect.collation(), tag, row.Tag)
	}
	return row, nil
}

// missing says why there is no row for the tag.
func (s *Store) missing(ctx context.Context, tag string) error {
	var fits bool
	if err := s.stmts[qFits].QueryRowContext(ctx, tag, tag).Scan(&fits); err != nil {
		return err
	}
	if !fits {
		return fmt.Errorf("%w: leaf_alloc.biz_tag is %s, which cannot hold '%s'", alloc.ErrCollation, s.dialect.collation(), tag)
	}
	return alloc.ErrNoTag
}

// scanRow reads the columns of a row, which people may have written, and then those in more.
func scanRow(from interface{ Scan(...any) error }, more ...any) (alloc.Row, error) {
	var row alloc.Row
	var maxID, step, updated sql.NullInt64
	var description sql.NullString
	dest := append([]any{&row.Tag, &maxID, &step, &description, &updated}, more...)
	if err := from.Scan(dest...); err != nil {
		return alloc.Row{}, err
	}
	row.MaxID, row.Step, row.Description = maxID.Int64, step.Int64, description.String
	row.Updated = time.Unix(updated.Int64, 0).UTC()
	return row, nil
}

// List implements alloc.Store.
func (s *Store) List(ctx context.Context, after string, limit int) ([]alloc.Row, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	// The first page has no lower bound: under a collation that pads with spaces, names may sort before "".
	stmt, args := s.stmts[qListFirst], []any{limit}
	if after != "" {
		stmt, args = s.stmts[qListAfter], []any{after, limit}
	}
	rows, err := collect(ctx, stmt, func(r *sql.Rows) (alloc.Row, error) { return scanRow(r) }, args...)
	if err != nil {
		return nil, fmt.Errorf("listing tags: %w", err)
	}
	return rows, nil
}

// collect runs a query and reads each row with scan.
func collect[T any](ctx context.Context, stmt *sql.Stmt, scan func(*sql.Rows) (T, error), args ...any) (all []T, err error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// Count implements alloc.Store.
func (s *Store) Count(ctx context.Context) (n int64, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.stmts[qCount].QueryRowContext(ctx).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting tags: %w", err)
	}
	return n, nil
}

// Configure implements alloc.Store.
func (s *Store) Configure(ctx context.Context, tag string, set alloc.Settings) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	n, err := s.exec(ctx, qConfigure, set.Step, set.Description, tag, tag)
	if s.dialect.unfit(err) {
		return fmt.Errorf("%w, and of leaf_alloc.description's character set: %w", alloc.ErrBadDescription, err)
	}
	if err == nil && n == 0 {
		_, err = s.lookup(ctx, tag)
	}
	if err != nil {
		return fmt.Errorf("configuring: %w", err)
	}
	return nil
}

// exec runs a statement and returns how many rows it met.
func (s *Store) exec(ctx context.Context, q query, args ...any) (int64, error) {
	return s.met(s.stmts[q].ExecContext(ctx, args...))
}

// met counts the rows that a statement met, changed or not.
func (s *Store) met(result sql.Result, err error) (int64, error) {
	if s.dialect.unheld(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
