package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"redleaf/alloc"
)

// View implements alloc.Failovers.
func (s *Store) View(ctx context.Context, nodes bool) (v alloc.View, err error) {
	err = s.onServer(ctx, "", func(ctx context.Context, conn *sql.Conn, server string) (err error) {
		v.Server = server
		if v.Now, err = s.nowOn(ctx, conn); err != nil {
			return err
		}
		if v.Record, _, err = readRecord(ctx, conn); err != nil {
			return err
		}
		if nodes || v.Record.Open {
			v.Nodes, err = members(ctx, conn, v.Now-nodeMemory.Milliseconds())
		}
		return err
	})
	return v, err
}

// onServer runs f over one connection, if it leads to the server; "" is any.
func (s *Store) onServer(ctx context.Context, server string, f func(context.Context, *sql.Conn, string) error) error {
	return s.onServerOver(ctx, s.free, server, f)
}

func (s *Store) onServerOver(ctx context.Context, pool *sql.DB, server string, f func(context.Context, *sql.Conn, string) error) (err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return explained(err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	answers, err := s.identity(conn)
	if err != nil {
		return err
	}
	if server != "" && server != answers {
		return alloc.ErrRecordChanged
	}
	return f(ctx, conn, answers)
}

// ownNow is the clock that statements are told: of a SQLite store this machine's. It is NULL where the database's counts.
func (s *Store) ownNow() any {
	if s.file != nil {
		return s.clock.now()
	}
	return nil
}

func (s *Store) nowOn(ctx context.Context, conn runner) (ms int64, err error) {
	if own, ok := s.ownNow().(int64); ok {
		return own, nil
	}
	err = conn.QueryRowContext(ctx, s.dialect.queries()[qNow]).Scan(&ms)
	return ms, err
}

// readRecord returns the record and its text; zero and "" when there is none.
func readRecord(ctx context.Context, conn runner) (r alloc.Record, text string, err error) {
	err = conn.QueryRowContext(ctx, "SELECT value FROM leaf_meta WHERE name = ?", metaServer).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return alloc.Record{}, "", nil
	}
	if err != nil {
		return alloc.Record{}, "", fmt.Errorf("reading the failover record: %w", err)
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return alloc.Record{}, "", fmt.Errorf("the failover record in leaf_meta is %q: %w", text, err)
	}
	return r, text, nil
}

func members(ctx context.Context, conn runner, since int64) (all []alloc.Member, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT id, seen_ms, server, term, window_ms FROM leaf_node WHERE seen_ms >= ?", since)
	if err != nil {
		return nil, fmt.Errorf("reading nodes: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var m alloc.Member
		if err := rows.Scan(&m.ID, &m.Seen, &m.Server, &m.Term, &m.Window); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

// PutRecord implements alloc.Failovers.
func (s *Store) PutRecord(ctx context.Context, server string, old, record alloc.Record) error {
	return s.onServer(ctx, server, func(ctx context.Context, conn *sql.Conn, _ string) error {
		return s.putRecord(ctx, conn, old, record)
	})
}

// putRecord replaces the record by compare-and-set on the text that stands for the old one.
func (s *Store) putRecord(ctx context.Context, db runner, old, record alloc.Record) error {
	found, text, err := readRecord(ctx, db)
	if err != nil {
		return err
	}
	if found != old {
		return alloc.ErrRecordChanged
	}
	next, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if text == "" {
		_, err = db.ExecContext(ctx, "INSERT INTO leaf_meta (name, value) VALUES (?, ?)", metaServer, string(next))
		if s.dialect.duplicate(err) {
			return alloc.ErrRecordChanged
		}
		return err
	}
	n, err := s.met(db.ExecContext(ctx, "UPDATE leaf_meta SET value = ? WHERE name = ? AND value = ?", string(next), metaServer, text))
	if err == nil && n == 0 {
		return alloc.ErrRecordChanged
	}
	return err
}

// Announce implements alloc.Failovers.
func (s *Store) Announce(ctx context.Context, server string, n alloc.Node, r alloc.Record, window time.Duration) error {
	return s.onServer(ctx, server, func(ctx context.Context, conn *sql.Conn, _ string) error {
		if _, err := conn.ExecContext(ctx, s.dialect.queries()[qBeat], s.beatArgs(n)...); err != nil {
			return fmt.Errorf("recording heartbeat: %w", err)
		}
		_, err := conn.ExecContext(ctx, "UPDATE leaf_node SET server = ?, term = ?, window_ms = ? WHERE id = ?",
			r.Server, r.Term, window.Milliseconds(), n.ID)
		return err
	})
}

// Skip implements alloc.Failovers.
func (s *Store) Skip(ctx context.Context, server string, open, done alloc.Record, gap int64, holders []string) error {
	err := s.onServerOver(ctx, s.slow, server, func(ctx context.Context, conn *sql.Conn, _ string) error {
		return inTx(ctx, conn, func(tx *sql.Tx) error {
			if err := s.putRecord(ctx, tx, open, done); err != nil {
				return err
			}
			if err := s.skipNumbers(ctx, tx, gap); err != nil {
				return err
			}
			return speakFor(ctx, tx, open, done, holders)
		})
	})
	if err == nil {
		s.logLost = false // whatever was lost is skipped
	}
	return err
}

// inTx runs f in a transaction on the connection.
func inTx(ctx context.Context, conn *sql.Conn, f func(*sql.Tx) error) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // a connection that cannot roll back is closed, which rolls back as well
		return err
	}
	return tx.Commit()
}

// skipNumbers moves all tags, those that were deleted, and those yet to come up by the gap. A tag that nobody remembers
// may have been made, and leased from, in the tail that was lost: so new ones begin above the gap as well.
func (s *Store) skipNumbers(ctx context.Context, tx *sql.Tx, gap int64) error {
	if gap == 0 {
		return nil
	}
	moved := " SET max_id = CASE WHEN max_id > ? THEN ? WHEN max_id < 1 THEN 1 + ? ELSE max_id + ? END"
	for _, change := range []string{"leaf_alloc" + moved + ", update_time = CURRENT_TIMESTAMP", "leaf_retired" + moved} {
		if _, err := tx.ExecContext(ctx, "UPDATE "+change, int64(math.MaxInt64)-gap, int64(math.MaxInt64), gap, gap); err != nil {
			return fmt.Errorf("skipping %d ids: %w", gap, err)
		}
	}
	var first sql.NullInt64
	if err := tx.QueryRowContext(ctx, s.dialect.queries()[qFirst]).Scan(&first); err != nil {
		return err
	}
	next := int64(math.MaxInt64)
	if at := max(1, first.Int64); at <= next-gap {
		next = at + gap
	}
	n, err := s.met(tx.ExecContext(ctx, "UPDATE leaf_meta SET value = ? WHERE name = ?", fmt.Sprint(next), metaFirst))
	if err == nil && n == 0 {
		_, err = tx.ExecContext(ctx, "INSERT INTO leaf_meta (name, value) VALUES (?, ?)", metaFirst, fmt.Sprint(next))
	}
	return err
}

// holdDoubt is by how much the two servers' clocks may differ: a worker row counts as held when its window lasted at
// least that long beyond the agreement's begin, so that nobody else can have claimed it in the tail that was lost.
const holdDoubt = 5 * time.Second

// speakFor moves the worker rows that no live node holds. Their new token makes every extension of theirs fail.
func speakFor(ctx context.Context, tx *sql.Tx, open, done alloc.Record, holders []string) error {
	args := []any{rand.Int64N(math.MaxInt64-1) + 1, done.Spoken, done.Spoken, open.Began + holdDoubt.Milliseconds()}
	for _, id := range holders {
		args = append(args, id)
	}
	unheld := "1 = 1"
	if len(holders) > 0 {
		unheld = "owner NOT IN (" + strings.Join(slices.Repeat([]string{"?"}, len(holders)), ", ") + ")"
	}
	_, err := tx.ExecContext(ctx, "UPDATE leaf_worker SET token = ?, until_ms = CASE WHEN until_ms > ? THEN until_ms ELSE ? END "+
		"WHERE until_ms < ? OR "+unheld, args...)
	if err != nil {
		return fmt.Errorf("closing worker rows: %w", err)
	}
	return nil
}
