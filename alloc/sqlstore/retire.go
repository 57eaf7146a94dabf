package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Retire implements alloc.Store.
func (s *Store) Retire(ctx context.Context, tag string) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.retire(ctx, tag); err != nil {
		return fmt.Errorf("retiring tag: %w", err)
	}
	return nil
}

func (s *Store) retire(ctx context.Context, tag string) error {
	for range maxAttempts {
		err := s.transact(ctx, func(tx *sql.Tx) error { return s.moveToMark(ctx, tx, tag) })
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		// Outside the transaction, which on SQLite has the only connection.
		if _, err := s.lookup(ctx, tag); err != nil {
			return err
		}
	}
	return errContended
}

// moveToMark locks the row before it reads it, so that no lease falls between the mark and the deletion.
func (s *Store) moveToMark(ctx context.Context, tx *sql.Tx, tag string) error {
	var maxID sql.NullInt64
	if err := s.scanIn(ctx, tx, qLock, &maxID, tag, tag); err != nil {
		return err
	}
	mark := max(1, maxID.Int64)
	if err := s.execIn(ctx, tx, qRetire, tag, mark); err != nil {
		return err
	}
	return s.execIn(ctx, tx, qDelete, tag, tag)
}

// execIn runs a statement in a transaction.
func (s *Store) execIn(ctx context.Context, tx *sql.Tx, q query, args ...any) (err error) {
	stmt := tx.StmtContext(ctx, s.stmts[q])
	defer func() { err = errors.Join(err, stmt.Close()) }()
	_, err = stmt.ExecContext(ctx, args...)
	return err
}

// scanIn reads one value in a transaction. sql.ErrNoRows: there is no row.
func (s *Store) scanIn(ctx context.Context, tx *sql.Tx, q query, dest any, args ...any) (err error) {
	stmt := tx.StmtContext(ctx, s.stmts[q])
	defer func() { err = errors.Join(err, stmt.Close()) }()
	return stmt.QueryRowContext(ctx, args...).Scan(dest)
}

// transact runs f in a transaction, and again if the database rolled it back as a deadlock's victim. A failed commit
// is returned: the outcome is then unknown.
func (s *Store) transact(ctx context.Context, f func(*sql.Tx) error) (err error) {
	for range maxAttempts {
		if err = s.transactOnce(ctx, f); !s.dialect.undone(err) {
			return err
		}
	}
	return err
}

func (s *Store) transactOnce(ctx context.Context, f func(*sql.Tx) error) error {
	if err := s.present(); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		// A connection that cannot roll back is closed, which rolls back as well.
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}
