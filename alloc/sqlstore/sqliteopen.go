package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyPause is the time between tries to set a file up while another process does.
const busyPause = 20 * time.Millisecond

// openSQLite opens the file; opts.Init creates it if it is missing.
func openSQLite(ctx context.Context, file string, opts Options) (*Store, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := findFile(path, opts.Init); err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(sqliteDSN(path, opts.StatementTimeout))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	db := sql.OpenDB(persistentLog{connector})
	// One connection: writers queue here, in order and until their deadlines, and not in SQLite's polling.
	db.SetMaxOpenConns(1)
	lost, err := setUpPatiently(ctx, db, path, opts)
	if err != nil {
		return nil, errors.Join(explainSQLite(path, err), db.Close())
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Store{db: db, side: db, free: db, slow: db, file: info, dialect: sqliteDialect{}, description: path, logLost: lost}, nil
}

// sqliteDSN escapes the path, which may have any character, in a file: URI.
func sqliteDSN(path string, busy time.Duration) string {
	params := url.Values{
		"_busy_timeout": {fmt.Sprint(max(1, busy.Milliseconds()))},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_txlock":       {"immediate"},
		"_error_rc":     {"1"},
	}
	if filepath.VolumeName(path) != "" { // C:\dir is /C:/dir in a URI
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), OmitHost: true, RawQuery: params.Encode()}).String()
}

// findFile checks that the file is there, or makes an empty one that nobody else can read.
func findFile(path string, create bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case err == nil && info.Size() == 0 && hasLog(path):
		return fmt.Errorf("%s is empty but %s-wal is not: the file was damaged; restore both from a backup", path, path)
	case err == nil:
		return checkHeader(path, info.Size())
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	// Its write-ahead log without the file means that the file was lost or half restored.
	for _, suffix := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return fmt.Errorf("%s is missing but %s is there: the file was lost or moved; restore both, or remove both if no id of theirs is in use", path, path+suffix)
		}
	}
	if !create {
		return fmt.Errorf("%s does not exist: --init creates it, and ids then start at 1", path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// checkHeader refuses a file that is not SQLite's. SQLite itself would overwrite a short one.
func checkHeader(path string, size int64) error {
	if size == 0 {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	const magic = "SQLite format 3\x00"
	header := make([]byte, len(magic))
	if _, err := io.ReadFull(f, header); err != nil || string(header) != magic {
		return fmt.Errorf("%s is not a SQLite database", path)
	}
	return nil
}

// setUpPatiently sets the tables up, again while another process has the file.
func setUpPatiently(ctx context.Context, db *sql.DB, path string, opts Options) (lost bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, max(opts.StatementTimeout, setupTimeout))
	defer cancel()
	for {
		lost, err = setUpSQLite(ctx, db, path, opts)
		if !isBusy(err) || !pause(ctx, busyPause) {
			return lost, err
		}
	}
}

// isBusy reports whether another process is in the way.
func isBusy(err error) bool {
	code := sqliteCode(err) & 0xff
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// setUpSQLite checks the file, sets the tables up, and marks it as in use.
func setUpSQLite(ctx context.Context, db *sql.DB, path string, opts Options) (lost bool, err error) {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return false, err
	}
	if verdict != "ok" {
		return false, fmt.Errorf("it is damaged: %s", verdict)
	}
	if lost, err = createSQLite(ctx, db, path, opts); err != nil {
		return lost, err
	}
	return lost, checkpoint(ctx, db)
}

// createSQLite creates what is missing in one transaction, so that a crash leaves all or nothing.
func createSQLite(ctx context.Context, db *sql.DB, path string, opts Options) (lost bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // nothing to do after Commit
	if err := completeSQLite(ctx, tx, opts.Init); err != nil {
		return false, err
	}
	if lost, err = markFile(ctx, tx, path, opts.Recover); err != nil {
		return lost, err
	}
	return lost, tx.Commit()
}

func completeSQLite(ctx context.Context, tx *sql.Tx, create bool) error {
	all := tables(sqliteSchema)
	columns, err := readColumns(ctx, tx, "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'")
	if err != nil {
		return err
	}
	if len(columns["leaf_alloc"]) == 0 && !create {
		return errors.New("it has no table leaf_alloc: --init creates it, and ids then start at 1")
	}
	for _, t := range missingTables(all, columns) {
		if _, err := tx.ExecContext(ctx, t.ddl); err != nil {
			return fmt.Errorf("creating table %s: %w", t.name, err)
		}
		columns[t.name] = t.columns
	}
	if err := checkColumns(all, columns); err != nil {
		return err
	}
	texts := sqliteDialect{}.queries()
	return checkVersion(ctx, tx, texts[qPutMeta], texts[qGetMeta])
}

// explainSQLite says in our words what is wrong with the file.
func explainSQLite(path string, err error) error {
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%s is not a SQLite database, or is damaged: %w", path, err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%s cannot be written: check its permissions: %w", path, err)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%s cannot be opened: check the permissions of the file and its folder, which must be writable: %w", path, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%s is locked by another process: %w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
