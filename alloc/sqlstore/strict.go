package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"redleaf/alloc"
)

// MakeStrict implements alloc.Stricts.
func (s *Store) MakeStrict(ctx context.Context, tag string, strict bool) (change int64, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if _, err := s.exec(ctx, qPutMeta, metaStrict, "0"); err != nil {
		return 0, fmt.Errorf("counting changes of strict tags: %w", err)
	}
	err = s.transact(ctx, func(tx *sql.Tx) (err error) {
		change, err = s.makeStrict(ctx, tx, tag, strict)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("changing whether the tag is strict: %w", err)
	}
	return change, nil
}

// makeStrict takes the counter first, and keeps it locked until the transaction ends: so changes can be seen in the order
// of their numbers.
func (s *Store) makeStrict(ctx context.Context, tx *sql.Tx, tag string, strict bool) (change int64, err error) {
	if _, err := tx.ExecContext(ctx, "UPDATE leaf_meta SET value = CAST(CAST(value AS "+s.dialect.integer()+") + 1 AS CHAR) WHERE name = ?", metaStrict); err != nil {
		return 0, err
	}
	var was alloc.StrictTag
	err = tx.QueryRowContext(ctx, "SELECT is_strict, change_no FROM leaf_strict WHERE biz_tag = ?", tag).Scan(&was.Strict, &was.Change)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if was.Strict == strict {
		return was.Change, nil
	}
	if strict {
		if err := s.checkStrict(ctx, tx); err != nil {
			return 0, err
		}
	}
	if err := tx.QueryRowContext(ctx, s.dialect.queries()[qGetMeta], metaStrict).Scan(&change); err != nil {
		return 0, err
	}
	return change, s.putStrict(ctx, tx, tag, strict, change)
}

// checkStrict checks the bound on strict tags, and has older versions refuse the store from now on.
func (s *Store) checkStrict(ctx context.Context, tx *sql.Tx) error {
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM leaf_strict WHERE is_strict = 1").Scan(&n); err != nil {
		return err
	}
	if n >= alloc.MaxStrict {
		return alloc.ErrTooManyStrict
	}
	_, err := tx.ExecContext(ctx, "UPDATE leaf_meta SET value = ? WHERE name = ? AND value = ?",
		strconv.Itoa(strictVersion), metaSchema, strconv.Itoa(schemaVersion))
	return err
}

func (s *Store) putStrict(ctx context.Context, tx *sql.Tx, tag string, strict bool, change int64) error {
	n, err := s.met(tx.ExecContext(ctx, "UPDATE leaf_strict SET is_strict = ?, change_no = ?, beat = beat + 1, holder = 0, addr = '' WHERE biz_tag = ?",
		strict, change, tag))
	if err == nil && n == 0 {
		_, err = tx.ExecContext(ctx, "INSERT INTO leaf_strict (biz_tag, is_strict, change_no, beat, holder, addr) VALUES (?, ?, ?, 1, 0, '')", tag, strict, change)
	}
	return err
}

// StrictTags implements alloc.Stricts.
func (s *Store) StrictTags(ctx context.Context) ([]alloc.StrictTag, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := collect(ctx, s.stmts[qStrictTags], func(r *sql.Rows) (alloc.StrictTag, error) { return scanStrict(r) })
	if err != nil {
		return nil, fmt.Errorf("reading strict tags: %w", err)
	}
	return rows, nil
}

// StrictTag implements alloc.Stricts.
func (s *Store) StrictTag(ctx context.Context, tag string) (alloc.StrictTag, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	row, err := scanStrict(s.stmts[qStrictTag].QueryRowContext(ctx, tag))
	if errors.Is(err, sql.ErrNoRows) {
		err = alloc.ErrNoTag
	}
	if err != nil {
		return alloc.StrictTag{}, fmt.Errorf("reading who holds the strict tag: %w", err)
	}
	return row, nil
}

func scanStrict(from interface{ Scan(...any) error }) (t alloc.StrictTag, err error) {
	err = from.Scan(&t.Tag, &t.Strict, &t.Change, &t.Beat, &t.Holder, &t.Addr)
	return t, err
}

// Hold implements alloc.Stricts.
func (s *Store) Hold(ctx context.Context, seen alloc.StrictTag, holder int64, addr string) (bool, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.present(); err != nil {
		return false, err
	}
	n, err := s.exec(ctx, qHold, holder, addr, seen.Tag, seen.Beat)
	if err != nil {
		return false, fmt.Errorf("taking hold of the strict tag: %w", err)
	}
	return n > 0, nil
}

// RenewHolds implements alloc.Stricts.
func (s *Store) RenewHolds(ctx context.Context, holder int64) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.present(); err != nil {
		return err
	}
	if _, err := s.exec(ctx, qRenewHolds, holder); err != nil {
		return fmt.Errorf("renewing the hold of strict tags: %w", err)
	}
	return nil
}

// Confirm implements alloc.Stricts.
func (s *Store) Confirm(ctx context.Context, node, addr string, change int64) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if _, err := s.exec(ctx, qConfirm, node, addr, change, s.ownNow()); err != nil {
		return fmt.Errorf("confirming changes of strict tags: %w", err)
	}
	return nil
}

// Unconfirmed implements alloc.Stricts.
func (s *Store) Unconfirmed(ctx context.Context, change int64) ([]alloc.StrictNode, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	now, day := s.ownNow(), nodeMemory.Milliseconds()
	nodes, err := collect(ctx, s.stmts[qUnconfirmed], func(r *sql.Rows) (n alloc.StrictNode, err error) {
		var silent int64
		err = r.Scan(&n.ID, &n.Addr, &silent)
		n.Silent = max(0, time.Duration(silent)*time.Millisecond)
		return n, err
	}, now, change, now, day, now, now, day)
	if err != nil {
		return nil, fmt.Errorf("reading what nodes have confirmed: %w", err)
	}
	return nodes, nil
}

// Withdraw implements alloc.Stricts.
func (s *Store) Withdraw(ctx context.Context, node string) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if _, err := s.exec(ctx, qWithdraw, node); err != nil {
		return fmt.Errorf("removing what the node confirmed: %w", err)
	}
	return nil
}
