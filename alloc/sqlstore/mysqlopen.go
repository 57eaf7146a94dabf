package sqlstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	// setupTimeout is the least time that statements at start have; creating tables takes longer than leasing.
	setupTimeout = 10 * time.Second
	connectPause = time.Second // between two tries to reach the server
)

// openMySQL sets the database up over a patient connection and returns the store with a pool of its own.
func openMySQL(ctx context.Context, t target, opts Options) (*Store, error) {
	config, err := mysqlConfig(t, opts)
	if err != nil {
		return nil, err
	}
	patience := max(setupTimeout, opts.StatementTimeout)
	setup, err := openPool(config, patience, "REPEATABLE READ", 1, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = setup.Close() }()
	if err := connect(ctx, setup, t, opts); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d, err := setUpMySQL(ctx, setup)
	if err != nil {
		return nil, fmt.Errorf("database %s on %s: %w", t.database, t.where(), err)
	}
	isolation, err := checkServer(ctx, setup, opts.Logger)
	if err != nil {
		return nil, fmt.Errorf("database %s on %s: %w", t.database, t.where(), err)
	}
	return openPools(config, isolation, opts, &Store{dialect: d, description: t.String()})
}

// openPools gives the store its connections.
func openPools(c *mysql.Config, isolation string, opts Options, s *Store) (*Store, error) {
	admit := opts.Admit
	if opts.TrustServers {
		admit = nil
	}
	var errs [4]error
	s.db, errs[0] = openPool(c, opts.StatementTimeout, isolation, tagConns, admit)
	s.side, errs[1] = openPool(c, opts.StatementTimeout, isolation, sideConns, admit)
	s.free, errs[2] = openPool(c, opts.StatementTimeout, isolation, freeConns, anyServer)
	s.slow, errs[3] = openPool(c, skipTimes*opts.StatementTimeout, isolation, 1, anyServer)
	if err := errors.Join(errs[:]...); err != nil { // the parameters are wrong: none has connected
		return nil, err
	}
	// Where the address leads elsewhere now, an old connection would not show it.
	s.free.SetConnMaxLifetime(freeLifetime)
	s.slow.SetConnMaxLifetime(freeLifetime)
	return s, nil
}

// anyServer admits whatever server answers.
func anyServer(string) error { return nil }

// connect waits for the server to answer, up to the timeout.
func connect(ctx context.Context, db *sql.DB, t target, opts Options) error {
	deadline := time.Now().Add(opts.ConnectTimeout)
	for {
		err := try(ctx, db, deadline)
		if err == nil {
			return nil
		}
		if permanent(err) {
			return fmt.Errorf("%s: %s: %w", t.where(), advice(err), err)
		}
		left := time.Until(deadline)
		if left <= 0 || ctx.Err() != nil {
			return fmt.Errorf("%s does not answer (tried for %v): %w", t.where(), opts.ConnectTimeout, err)
		}
		opts.Logger.Warn("waiting for the database", "server", t.where(), "err", err, "left", left.Round(time.Millisecond))
		pause(ctx, min(connectPause, left))
	}
}

// try connects once. The first try gets some time even if the deadline is near.
func try(ctx context.Context, db *sql.DB, deadline time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, min(dialTimeout, max(time.Until(deadline), time.Second)))
	defer cancel()
	return db.PingContext(ctx)
}

// pause waits, and reports whether it did before ctx was done.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// permanent reports whether waiting cannot help: the server answered and refused, or TLS does not work with it.
func permanent(err error) bool {
	switch mysqlCode(err) {
	case errTooManyConnections, errShutdown, errHostBlocked, errUserConnections, errUserLimit:
		return false
	case 0:
		return brokenTLS(err) || unusableLogin(err)
	}
	return true
}

func brokenTLS(err error) bool {
	if errors.Is(err, mysql.ErrNoTLS) {
		return true
	}
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	_, header := errors.AsType[tls.RecordHeaderError](err)
	return certificate || authority || host || alert || header
}

func unusableLogin(err error) bool {
	for _, e := range []error{mysql.ErrCleartextPassword, mysql.ErrNativePassword, mysql.ErrOldPassword, mysql.ErrUnknownPlugin, mysql.ErrOldProtocol} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// advice says what to do about a permanent error.
func advice(err error) string {
	switch mysqlCode(err) {
	case errAccessDenied, errSocketAuthDenied:
		return "the server refuses the login: check user and password"
	case errDatabaseDenied:
		return "the user may not use this database: grant SELECT, INSERT, UPDATE and DELETE on it"
	case errUnknownDatabase:
		return "there is no such database: create it"
	case errUnknownVariable:
		return "neither the driver nor the server knows one of the URL's parameters"
	case errHostDenied:
		return "the server refuses this machine: allow the user to connect from it"
	}
	if brokenTLS(err) {
		return "TLS does not work with this server: check the URL's parameter tls"
	}
	return "the server refuses the connection"
}

// checkServer warns of settings under which the server can lose what it acknowledged, and returns the isolation level
// to use.
func checkServer(ctx context.Context, db *sql.DB, log *slog.Logger) (isolation string, err error) {
	vars, err := readVariables(ctx, db)
	if err != nil {
		return "", fmt.Errorf("reading the server's settings: %w", err)
	}
	binlog := vars["log_bin"] == "ON"
	if v := vars["innodb_flush_log_at_trx_commit"]; v != "1" {
		log.Warn("the database server can lose acknowledged writes in a crash, and ids could then be issued twice",
			"setting", "innodb_flush_log_at_trx_commit", "value", v, "want", "1")
	}
	if v := vars["sync_binlog"]; binlog && v != "1" {
		log.Warn("the database server can lose acknowledged writes in a crash, and ids could then be issued twice",
			"setting", "sync_binlog", "value", v, "want", "1")
	}
	if v := vars["read_only"]; v != "OFF" && v != "" {
		log.Warn("the database server is read-only: is it a replica?", "setting", "read_only", "value", v)
	}
	if binlog && vars["binlog_format"] == "STATEMENT" {
		return "REPEATABLE READ", nil // InnoDB refuses to write at a lower level to such a log
	}
	return "READ COMMITTED", nil
}

func readVariables(ctx context.Context, db runner) (vars map[string]string, err error) {
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN "+
		"('innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin', 'read_only', 'binlog_format')")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	vars = map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		vars[name] = value
	}
	return vars, rows.Err()
}
