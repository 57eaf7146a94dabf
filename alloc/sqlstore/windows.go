package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"redleaf/snowflake"
)

// Names in leaf_meta.
const (
	metaLayout = "layout"
	metaSchema = "schema"
	metaServer = "server" // an alloc.Record
	metaStrict = "strict" // counts the changes of strict tags
	metaFirst  = "first"  // where new tags begin, after a failover

	metaRunning = "running" // in a SQLite file: see markFile
)

// RecordLayout implements snowflake.Windows.
func (s *Store) RecordLayout(ctx context.Context, l snowflake.Layout) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	ours := fmt.Sprintf("bits %s, epoch %d", l.Bits(), l.Epoch)
	recorded, err := s.record(ctx, metaLayout, ours)
	if err != nil {
		return fmt.Errorf("recording layout: %w", err)
	}
	if recorded != ours {
		return fmt.Errorf("%w: the store has %s, this node %s", snowflake.ErrLayout, recorded, ours)
	}
	return nil
}

// record writes the value unless the name has one, and returns what stands there.
func (s *Store) record(ctx context.Context, name, value string) (recorded string, err error) {
	err = s.stmts[qGetMeta].QueryRowContext(ctx, name).Scan(&recorded)
	if !errors.Is(err, sql.ErrNoRows) {
		return recorded, err
	}
	if _, err := s.exec(ctx, qPutMeta, name, value); err != nil {
		return "", err
	}
	err = s.stmts[qGetMeta].QueryRowContext(ctx, name).Scan(&recorded)
	return recorded, err
}

// Now implements snowflake.Windows.
func (s *Store) Now(ctx context.Context) (int64, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	now, err := s.dialect.now(ctx, s.stmts[qNow], &s.clock)
	return now, explained(err)
}

// Workers implements snowflake.Windows.
func (s *Store) Workers(ctx context.Context, lo, hi int) ([]snowflake.Worker, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	workers, err := collect(ctx, s.stmts[qWorkers], scanWorker, lo, hi)
	if err != nil {
		return nil, fmt.Errorf("reading workers: %w", err)
	}
	return workers, nil
}

func scanWorker(r *sql.Rows) (w snowflake.Worker, err error) {
	err = r.Scan(&w.ID, &w.Token, &w.Owner, &w.Addr, &w.Until)
	return w, err
}

// Swap implements snowflake.Windows. execOnce says how it is sent only once.
func (s *Store) Swap(ctx context.Context, old int64, w snowflake.Worker) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.swap(ctx, old, w); err != nil {
		return fmt.Errorf("writing worker %d: %w", w.ID, err)
	}
	return nil
}

func (s *Store) swap(ctx context.Context, old int64, w snowflake.Worker) error {
	if w.Token == 0 {
		return errors.New("token 0 stands for no row")
	}
	if old == 0 {
		_, err := s.execOnce(ctx, qClaim, w.ID, w.Token, w.Owner, w.Addr, w.Until)
		if s.dialect.duplicate(err) {
			return snowflake.ErrSwapped
		}
		return err
	}
	n, err := s.execOnce(ctx, qSwap, w.Token, w.Owner, w.Addr, w.Until, w.ID, old)
	if err == nil && n == 0 {
		return snowflake.ErrSwapped
	}
	return err
}
