package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	dialTimeout = 5 * time.Second  // to connect and log in
	tagConns    = 16               // for statements about tags
	sideConns   = 4                // for worker windows, heartbeats and the clock
	freeConns   = 3                // for heartbeats and agreements
	maxIdleTime = 5 * time.Minute  // below what servers and firewalls commonly allow
	maxLifetime = 10 * time.Minute // a failover leaves connections to the old server behind

	// freeLifetime bounds for how long a node does not notice that the address leads to another server, when its
	// connections to the old one live on.
	freeLifetime = 5 * time.Second
	// skipTimes is how many times longer than others the statements that end an agreement may take: they write all rows.
	skipTimes = 10
)

// session connects and gives each connection the settings that the store needs, whatever the server's defaults are.
type session struct {
	driver.Connector
	settings []string
	admit    func(server string) error // nil: all servers are admitted
}

// openPool returns a pool of sessions whose statements the server ends after the timeout.
func openPool(c *mysql.Config, timeout time.Duration, isolation string, conns int, admit func(string) error) (*sql.DB, error) {
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("the URL's parameters: %w", err)
	}
	db := sql.OpenDB(session{Connector: connector, settings: sessionSettings(timeout, isolation), admit: admit})
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(maxIdleTime)
	db.SetConnMaxLifetime(maxLifetime)
	return db, nil
}

// sessionSettings are sent after the URL's parameters, and so win.
//
// A client that gives up only closes its connection; the server would wait for the row's lock, and then change the
// row, long after. So it has the client's timeout as well: MariaDB for any wait, MySQL, which does not know
// max_statement_time, for locks, in whole seconds. MariaDB gives up a little before the client, whose connection then lives
// on: a server in trouble must not be asked for new ones, nor work for those who have gone.
func sessionSettings(timeout time.Duration, isolation string) []string {
	lockWait := int64((timeout + time.Second - 1) / time.Second)
	return []string{
		"SET SESSION autocommit = 1" +
			", SESSION completion_type = 0" + // else COMMIT may open another transaction, or close the connection
			", SESSION sql_mode = 'STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'" +
			", SESSION sql_safe_updates = 0" +
			", SESSION sql_select_limit = 18446744073709551615" +
			", SESSION wait_timeout = 28800" +
			fmt.Sprintf(", SESSION innodb_lock_wait_timeout = %d", lockWait) +
			fmt.Sprintf(" /*M! , SESSION max_statement_time = %.3f */", 0.9*timeout.Seconds()),
		"SET SESSION TRANSACTION ISOLATION LEVEL " + isolation + ", READ WRITE",
	}
}

// Connect implements driver.Connector.
func (s session) Connect(ctx context.Context) (driver.Conn, error) {
	// database/sql also connects without anybody's deadline, and a server may accept and then say nothing.
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the MySQL driver cannot execute statements"), conn.Close())
	}
	for _, set := range s.settings {
		if _, err := execer.ExecContext(ctx, set, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("setting the session up: %w", err), conn.Close())
		}
	}
	if s.admit == nil {
		return conn, nil
	}
	known, err := identified(ctx, conn, s.admit)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return known, nil
}
