package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"redleaf/alloc"
	"redleaf/snowflake"
)

var (
	_ alloc.Store       = (*Store)(nil)
	_ alloc.Nodes       = (*Store)(nil)
	_ snowflake.Windows = (*Store)(nil)
	_ alloc.Failovers   = (*Store)(nil)
	_ alloc.Raiser      = (*Store)(nil)
	_ alloc.Stricts     = (*Store)(nil)
)

// Options say how a store is opened. Zero values mean the defaults.
type Options struct {
	Password         string        // of the database user; overrides the URL's
	Init             bool          // create the SQLite file if it is missing
	StatementTimeout time.Duration // longest time for one call; default 2s
	ConnectTimeout   time.Duration // how long Open tries to reach a MySQL server; 0 is one try
	Logger           *slog.Logger  // default: none

	// Recover has a SQLite file opened whose write-ahead log is lost: for alloc.Recover, after which it is a store again.
	Recover bool

	// Admit says of a MySQL server's identity whether its connections may be used for tags and worker windows. It is
	// asked before each use of one. Default: all may.
	Admit func(server string) error
	// TrustServers has every server show the identity alloc.AnyServer.
	TrustServers bool
}

// Store is the SQL store. Every method is safe for concurrent use and ends by ctx's deadline, or after the statement
// timeout if ctx has none.
type Store struct {
	db          *sql.DB
	side        *sql.DB // for all that is not tags, which must not wait for rows that somebody holds locked; may be db
	free        *sql.DB // for heartbeats and agreements, on whatever server answers; may be db
	slow        *sql.DB // as free, for statements that write all rows; may be db
	dialect     dialect
	stmts       [numQueries]*sql.Stmt
	timeout     time.Duration // of a call whose context has no deadline
	description string
	clock       clock
	pruned      atomic.Pointer[time.Time] // when old nodes were removed last; nil: never
	trust       bool                      // of all servers
	file        os.FileInfo               // of a SQLite store, as it was opened; nil: MySQL
	logLost     bool                      // of a SQLite store: its log was lost, and Skip has not been done yet
}

// Open opens the store that the URL names and creates the tables that are missing. It waits for a MySQL server that
// does not answer yet, up to ConnectTimeout, and fails at once where waiting cannot help. The error is one line and
// never has the password.
func Open(ctx context.Context, url string, opts Options) (*Store, error) {
	if opts.StatementTimeout <= 0 {
		opts.StatementTimeout = 2 * time.Second
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := open(ctx, url, opts)
	if err != nil {
		return nil, oneLine{err}
	}
	return s, nil
}

func open(ctx context.Context, url string, opts Options) (*Store, error) {
	target, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	var s *Store
	if target.file != "" {
		s, err = openSQLite(ctx, target.file, opts)
	} else {
		s, err = openMySQL(ctx, target, opts)
	}
	if err != nil {
		return nil, err
	}
	s.timeout, s.clock, s.trust = opts.StatementTimeout, newClock(), opts.TrustServers
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("preparing statements: %w", err), s.Close())
	}
	return s, nil
}

// prepare makes every statement once; database/sql prepares it again on each connection at its first use there.
func (s *Store) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(s.timeout, setupTimeout))
	defer cancel()
	for q, text := range s.dialect.queries() {
		var err error
		if s.stmts[q], err = s.pool(query(q)).PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // they end with db
			return err
		}
	}
	return nil
}

// Description names the store for people: the URL without password and parameters, or the absolute path of the file.
func (s *Store) Description() string { return s.description }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	// A statement, not COM_PING: a database that cannot read its tables is no store.
	err := s.stmts[qGetMeta].QueryRowContext(ctx, metaSchema).Scan(new(string))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("pinging store: %w", err)
	}
	return nil
}

// Close closes the connections. Calls under way fail.
func (s *Store) Close() error {
	var err error
	if s.file != nil {
		err = s.tidy()
	}
	err = errors.Join(err, s.db.Close())
	if s.side != s.db {
		err = errors.Join(err, s.side.Close(), s.free.Close(), s.slow.Close())
	}
	if err != nil {
		return fmt.Errorf("closing store: %w", err)
	}
	return nil
}

// present reports whether the SQLite file is still the one that was opened. A file that was deleted or replaced goes on
// being written for this process alone, and another process would begin with ids from 1 beside it.
func (s *Store) present() error {
	if s.file == nil {
		return nil
	}
	now, err := os.Stat(s.description)
	if err == nil && os.SameFile(now, s.file) {
		return nil
	}
	return fmt.Errorf("%s was deleted or replaced while in use: no more is leased until redleaf is started anew", s.description)
}

// pool returns the connections that a statement runs on.
func (s *Store) pool(q query) *sql.DB {
	switch {
	case q < qNow:
		return s.db
	case q < qBeat:
		return s.side
	}
	return s.free
}

// bounded returns ctx with the statement timeout as deadline if it has none.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, s.timeout)
}

// oneLine shows an error, which may hold a database's own message, on one line.
type oneLine struct{ err error }

func (e oneLine) Error() string { return strings.Join(strings.Fields(e.err.Error()), " ") }
func (e oneLine) Unwrap() error { return e.err }
