package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"redleaf/alloc"
	"redleaf/snowflake"
)

// raiseBatch is how many rows are raised in one transaction.
const raiseBatch = 200

// RaiseTags implements alloc.Raiser. The tags come sorted: nodes that raise at once then lock rows in one order.
func (s *Store) RaiseTags(ctx context.Context, server string, marks []alloc.Mark) error {
	return raise(ctx, s, server, marks, s.raiseTag)
}

// RaiseWorkers moves worker rows up to what a node wrote before a failover: where its window ends later than the row
// says, the row is as the node left it, and the node goes on extending it.
func (s *Store) RaiseWorkers(ctx context.Context, server string, rows []snowflake.Worker) error {
	return raise(ctx, s, server, rows, s.raiseWorker)
}

// raise runs one for all rows, in transactions of some, each with a statement's deadline. A transaction that met another
// node's is run again.
func raise[T any](ctx context.Context, s *Store, server string, rows []T, one func(context.Context, *sql.Tx, T) error) error {
	for batch := range slices.Chunk(rows, raiseBatch) {
		var err error
		for range maxAttempts {
			err = s.onServer(ctx, server, func(ctx context.Context, conn *sql.Conn, _ string) error {
				return inTx(ctx, conn, func(tx *sql.Tx) error {
					for _, row := range batch {
						if err := one(ctx, tx, row); err != nil {
							return err
						}
					}
					return nil
				})
			})
			if !s.dialect.duplicate(err) && !s.dialect.undone(err) {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) raiseTag(ctx context.Context, tx *sql.Tx, m alloc.Mark) error {
	q := s.dialect.queries()
	n, err := s.met(tx.ExecContext(ctx, q[qAdvance], m.End, m.Tag, m.Tag, m.End))
	if n > 0 || err != nil {
		return err
	}
	var at sql.NullInt64
	err = tx.QueryRowContext(ctx, q[qLock], m.Tag, m.Tag).Scan(&at)
	if err == nil && at.Valid { // above already
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	err = tx.QueryRowContext(ctx, q[qMark], m.Tag).Scan(&at)
	switch {
	case err == nil, m.Gone && errors.Is(err, sql.ErrNoRows):
		_, err = tx.ExecContext(ctx, q[qRetire], m.Tag, m.End)
	case errors.Is(err, sql.ErrNoRows): // it was made in the tail that was lost
		if _, err = tx.ExecContext(ctx, q[qInsert], m.Tag, m.End, max(1, m.Step)); err == nil {
			_, err = tx.ExecContext(ctx, q[qStartAtMark], m.Tag, m.Tag, m.Tag)
		}
	}
	if err != nil {
		return fmt.Errorf("raising tag '%s': %w", m.Tag, err)
	}
	return nil
}

func (s *Store) raiseWorker(ctx context.Context, tx *sql.Tx, w snowflake.Worker) error {
	n, err := s.met(tx.ExecContext(ctx, "UPDATE leaf_worker SET token = ?, owner = ?, addr = ?, until_ms = ? "+
		"WHERE worker_id = ? AND until_ms < ?", w.Token, w.Owner, w.Addr, w.Until, w.ID, w.Until))
	if n > 0 || err != nil {
		return err
	}
	var until int64
	err = tx.QueryRowContext(ctx, "SELECT until_ms FROM leaf_worker WHERE worker_id = ?", w.ID).Scan(&until)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	_, err = tx.ExecContext(ctx, s.dialect.queries()[qClaim], w.ID, w.Token, w.Owner, w.Addr, w.Until)
	return err
}
