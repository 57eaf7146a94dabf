package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"redleaf/alloc"
)

// maxAttempts bounds how often a call starts over because others make and delete the same tag meanwhile, or because
// the database chose its transaction as a deadlock's victim. What is repeated has certainly not happened.
const maxAttempts = 5

var errContended = errors.New("others change the row again and again: nothing was done")

// Create implements alloc.Store.
func (s *Store) Create(ctx context.Context, tag string, step, maxTags int64) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.create(ctx, tag, step, maxTags); err != nil {
		return fmt.Errorf("creating tag: %w", err)
	}
	return nil
}

func (s *Store) create(ctx context.Context, tag string, step, maxTags int64) error {
	for range maxAttempts {
		if _, err := s.lookup(ctx, tag); !errors.Is(err, alloc.ErrNoTag) {
			return err
		}
		if err := s.checkRoom(ctx, maxTags); err != nil {
			return err
		}
		err := s.transact(ctx, func(tx *sql.Tx) error { return s.insertAtMark(ctx, tx, tag, step) })
		if !s.dialect.duplicate(err) {
			return err
		}
	}
	return errContended
}

func (s *Store) checkRoom(ctx context.Context, maxTags int64) error {
	if maxTags <= 0 {
		return nil
	}
	var n int64
	if err := s.stmts[qCount].QueryRowContext(ctx).Scan(&n); err != nil {
		return err
	}
	if n >= maxTags {
		return fmt.Errorf("%w: there are %d", alloc.ErrTooManyTags, n)
	}
	return nil
}

// insertAtMark makes the row and only then reads, inside the second statement, where a deleted tag of this name ended.
//
// The order is what makes it safe. A Retire holds the old row locked until it commits, so once the INSERT succeeds,
// any Retire has committed and its mark is there to read; and no Retire can begin, since nobody sees the new row
// before we commit. Computing the start inside the INSERT would not do: at READ COMMITTED a locking read of a mark
// that is not there yet locks nothing, and the INSERT then waits for the Retire and goes on with the start it computed.
func (s *Store) insertAtMark(ctx context.Context, tx *sql.Tx, tag string, step int64) error {
	if err := s.execIn(ctx, tx, qInsert, tag, 1, step); err != nil {
		return err
	}
	return s.execIn(ctx, tx, qStartAtMark, tag, tag, tag)
}

// Advance implements alloc.Store.
func (s *Store) Advance(ctx context.Context, tag string, maxID, step int64) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.advance(ctx, tag, maxID, step); err != nil {
		return fmt.Errorf("advancing tag: %w", err)
	}
	return nil
}

func (s *Store) advance(ctx context.Context, tag string, maxID, step int64) error {
	for range maxAttempts {
		if n, err := s.exec(ctx, qAdvance, maxID, tag, tag, maxID); n > 0 || err != nil {
			return err
		}
		row, err := s.lookup(ctx, tag)
		if err == nil {
			if row.MaxID > maxID {
				return &alloc.FloorError{Tag: tag, Floor: row.MaxID - 1}
			}
			continue // ids were given back, or the row was made, between the two statements
		}
		if !errors.Is(err, alloc.ErrNoTag) {
			return err
		}
		err = s.transact(ctx, func(tx *sql.Tx) error { return s.insertAbove(ctx, tx, tag, maxID, step) })
		if !s.dialect.duplicate(err) {
			return err
		}
	}
	return errContended
}

// insertAbove makes the row and then checks it against the mark; insertAtMark says why in this order.
func (s *Store) insertAbove(ctx context.Context, tx *sql.Tx, tag string, maxID, step int64) error {
	if err := s.execIn(ctx, tx, qInsert, tag, maxID, step); err != nil {
		return err
	}
	var mark int64
	err := s.scanIn(ctx, tx, qMark, &mark, tag)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var first sql.NullInt64 // after a failover: see Store.Skip
	if err := s.scanIn(ctx, tx, qFirst, &first); err != nil {
		return err
	}
	if at := max(1, mark, first.Int64); maxID < at {
		return &alloc.FloorError{Tag: tag, Floor: at - 1}
	}
	return nil
}
