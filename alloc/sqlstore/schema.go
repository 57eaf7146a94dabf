package sqlstore

import (
	"context"
	"database/sql"
	_ "embed" // for the DDL
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed mysql.sql
var mysqlSchema string

//go:embed sqlite.sql
var sqliteSchema string

// schemaVersion is recorded in leaf_meta at first. strictVersion takes its place once a tag is strict, which a redleaf that
// knows no strict tags would not heed. A store of a newer version is refused.
const (
	schemaVersion = 1
	strictVersion = 2
)

// runner is a *sql.DB, *sql.Conn or *sql.Tx.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// table is a table of the schema.
type table struct {
	name    string
	columns []string
	ddl     string
}

// tables reads the DDL: statements that end in a semicolon, one column a line.
func tables(schema string) (all []table) {
	for ddl := range strings.SplitSeq(schema, ";\n") {
		head, body, ok := strings.Cut(strings.TrimSpace(ddl), " (\n")
		if !ok {
			continue
		}
		t := table{name: head[strings.LastIndexByte(head, ' ')+1:], ddl: ddl}
		for line := range strings.Lines(body) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if name == strings.ToLower(name) && !strings.HasPrefix(name, ")") {
				t.columns = append(t.columns, name)
			}
		}
		all = append(all, t)
	}
	return all
}

// missingTables returns those of which the database shows no column. columns maps its tables to their columns.
func missingTables(all []table, columns map[string][]string) (missing []table) {
	for _, t := range all {
		if len(columns[t.name]) == 0 {
			missing = append(missing, t)
		}
	}
	return missing
}

// checkColumns refuses tables that lack a column that the statements name.
func checkColumns(all []table, columns map[string][]string) error {
	for _, t := range all {
		for _, want := range t.columns {
			if !slices.Contains(columns[t.name], want) {
				return fmt.Errorf("table %s has no column %s: compare it with `redleaf schema`", t.name, want)
			}
		}
	}
	return nil
}

// readColumns runs a query for (table, column) pairs.
func readColumns(ctx context.Context, db runner, query string) (columns map[string][]string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns = map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, err
		}
		table = strings.ToLower(table)
		columns[table] = append(columns[table], strings.ToLower(column))
	}
	return columns, rows.Err()
}

// checkVersion records the schema's version if none is, and refuses a newer one. put is qPutMeta, get is qGetMeta.
func checkVersion(ctx context.Context, db runner, put, get string) error {
	var recorded string
	err := db.QueryRowContext(ctx, get, metaSchema).Scan(&recorded)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = db.ExecContext(ctx, put, metaSchema, strconv.Itoa(schemaVersion))
		recorded = strconv.Itoa(schemaVersion)
	}
	if err != nil {
		return fmt.Errorf("reading the schema's version: %w", err)
	}
	version, err := strconv.Atoi(recorded)
	if err != nil {
		return fmt.Errorf("the schema's version in leaf_meta is %q: want a number", recorded)
	}
	if version > strictVersion {
		return fmt.Errorf("the tables are of schema version %d, this redleaf knows %d: use a newer redleaf", version, strictVersion)
	}
	return nil
}
