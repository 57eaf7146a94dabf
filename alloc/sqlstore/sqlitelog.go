package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"modernc.org/sqlite"
)

// What is committed stands in the write-ahead log until it is copied into the file. Without the log, the file alone is a
// good database of an earlier time, and would grant again what was granted since. So the file itself says that it is in
// use: the mark is made before anything is leased, and copied into the file at once; and as long as it stands, the log is
// there, since only an orderly close of the last process takes both away. A file with the mark and without a log has lost it.
//
// A backup that was taken of a running store has the mark and no log, too, and is refused rightly: ids were issued since.

// Values of metaRunning.
const (
	markRunning = "running"
	markLost    = "lost" // the log was lost, and the recovery has not ended
)

// persistentLog is a connector whose connections never remove the log by themselves, as SQLite's do when the last one is
// closed: whoever looks into a file after a crash would take the log away from under the mark.
type persistentLog struct{ driver.Connector }

// Connect implements driver.Connector.
func (c persistentLog) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := keepLog(conn, true); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// keepLog says whether a connection, *sqlite.conn, leaves the log where it is when it is the last one.
func keepLog(conn any, yes bool) error {
	control, ok := conn.(sqlite.FileControl)
	if !ok {
		return errors.New("the SQLite driver can't keep the write-ahead log")
	}
	mode := 0
	if yes {
		mode = 1
	}
	if _, err := control.FileControlPersistWAL("main", mode); err != nil {
		return fmt.Errorf("keeping the write-ahead log: %w", err)
	}
	return nil
}

// markFile makes the mark, and refuses a file that has it and no log. recovering is the recovery's: its mark stands until Skip has
// been done. It reports whether the log was lost.
func markFile(ctx context.Context, tx *sql.Tx, path string, recovering bool) (lost bool, err error) {
	var mark string
	err = tx.QueryRowContext(ctx, "SELECT value FROM leaf_meta WHERE name = ?", metaRunning).Scan(&mark)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	if mark != "" && (mark == markLost || !hasLog(path)) {
		if !recovering {
			return true, fmt.Errorf("redleaf did not stop in order, and the write-ahead log %s-wal is missing: ids may have been issued that this file "+
				"does not know. Put the log back, or run redleaf recover --gap N, or, if only another program opened the file since, with --gap 0", path)
		}
		return true, setMark(ctx, tx, markLost)
	}
	return false, setMark(ctx, tx, markRunning)
}

func setMark(ctx context.Context, db runner, value string) error {
	_, err := db.ExecContext(ctx, "INSERT INTO leaf_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", metaRunning, value)
	return err
}

// hasLog reports whether the file's write-ahead log is there, with more in it than a header.
func hasLog(path string) bool {
	f, err := os.Open(path + "-wal")
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // read only
	const headerSize = 32
	header := make([]byte, headerSize+1)
	if _, err := io.ReadFull(f, header); err != nil {
		return false
	}
	magic := binary.BigEndian.Uint32(header)
	return magic == 0x377f0682 || magic == 0x377f0683 // as of SQLite's file format, "The Write-Ahead Log"
}

// checkpoint copies the mark into the file, with all else. What another process has under way may stay behind; then the
// mark of that process is in the file already.
func checkpoint(ctx context.Context, db runner) error {
	var busy, frames, copied int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &copied); err != nil {
		return fmt.Errorf("copying the write-ahead log: %w", err)
	}
	return nil
}

// tidy takes the mark and the log away if no other process has the file open. Whatever goes wrong leaves both.
func (s *Store) tidy() error {
	if s.present() != nil || s.logLost {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // gives it back
	if _, err := conn.ExecContext(ctx, "DELETE FROM leaf_meta WHERE name = ?", metaRunning); err != nil {
		return fmt.Errorf("noting the stop: %w", err)
	}
	alone, err := leaveLog(ctx, conn, s.timeout)
	if err == nil && !alone {
		err = errors.Join(setMark(ctx, conn, markRunning), checkpoint(ctx, conn))
	}
	return err
}

// leaveLog copies the log into the file and removes it, if no other process has the file open.
func leaveLog(ctx context.Context, conn *sql.Conn, timeout time.Duration) (alone bool, err error) {
	wait := func(d time.Duration) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
		return err
	}
	if err := wait(0); err != nil { // who has it open now has it open for long
		return false, err
	}
	if err := conn.Raw(func(c any) error { return keepLog(c, false) }); err != nil {
		return false, err
	}
	var mode string
	err = conn.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode)
	if isBusy(err) {
		err = nil
	}
	keep := conn.Raw(func(c any) error { return keepLog(c, true) })
	return mode == "delete", errors.Join(err, keep, wait(timeout))
}
