package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"redleaf/alloc"
)

// qIdentity reads what tells one MySQL server from another: its UUID, which MySQL has and MariaDB calls server_uid from
// some versions on, and its number in replication. Variables that a server does not know are left out.
const qIdentity = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'server_uid', 'server_id')"

// sqliteIdentity is that of all SQLite files: which file it is, present tells.
const sqliteIdentity = "sqlite"

// maxIdentity keeps a record within leaf_meta's column.
const maxIdentity = 100

// identityOf puts the variables together. The server's order is by name.
func identityOf(variables [][2]string) string {
	var parts []string
	for _, v := range variables {
		parts = append(parts, strings.ToLower(v[0])+"="+v[1])
	}
	id := strings.Join(parts, ",")
	return id[:min(len(id), maxIdentity)]
}

// identity returns the identity of the server behind a connection of the pool free: the one that it had when the
// connection was made.
func (s *Store) identity(conn *sql.Conn) (id string, err error) {
	switch {
	case s.trust:
		return alloc.AnyServer, nil
	case s.file != nil:
		return sqliteIdentity, nil
	}
	err = conn.Raw(func(c any) error {
		known, ok := c.(knownConn)
		if !ok {
			return fmt.Errorf("reading the server's identity: of a connection of type %T", c)
		}
		id = known.server
		return nil
	})
	return id, err
}

// mysqlConn is what database/sql uses of the driver's connections.
type mysqlConn interface {
	driver.Conn
	driver.Pinger
	driver.ExecerContext
	driver.QueryerContext
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.NamedValueChecker
	driver.SessionResetter
	driver.Validator
}

// knownConn is a connection of which it is known to which server it leads. It is not used while that is not admitted.
type knownConn struct {
	mysqlConn
	server string
	admit  func(string) error
}

// ResetSession implements driver.SessionResetter: database/sql calls it before each use of a pooled connection, and
// takes another one after ErrBadConn.
func (c knownConn) ResetSession(ctx context.Context) error {
	if c.admit(c.server) != nil {
		return driver.ErrBadConn
	}
	return c.mysqlConn.ResetSession(ctx)
}

// identified reads the identity of the server behind a new connection, and refuses one that is not admitted.
func identified(ctx context.Context, conn driver.Conn, admit func(string) error) (driver.Conn, error) {
	c, ok := conn.(mysqlConn)
	if !ok {
		return nil, errors.New("the MySQL driver lacks an interface")
	}
	rows, err := c.QueryContext(ctx, qIdentity, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the server's identity: %w", err)
	}
	variables, err := readPairs(rows)
	if err = errors.Join(err, rows.Close()); err != nil {
		return nil, fmt.Errorf("reading the server's identity: %w", err)
	}
	known := knownConn{mysqlConn: c, server: identityOf(variables), admit: admit}
	return known, admit(known.server)
}

func readPairs(rows driver.Rows) (pairs [][2]string, err error) {
	for {
		var values [2]driver.Value
		switch err := rows.Next(values[:]); {
		case errors.Is(err, io.EOF):
			return pairs, nil
		case err != nil:
			return nil, err
		}
		pairs = append(pairs, [2]string{text(values[0]), text(values[1])})
	}
}

func text(v driver.Value) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(v)
}
