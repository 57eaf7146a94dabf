package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
)

const leafTables = "('leaf_alloc', 'leaf_retired', 'leaf_worker', 'leaf_node', 'leaf_meta', 'leaf_strict', 'leaf_strict_node')"

// setUpMySQL creates the tables that are missing, checks all, and returns the dialect for the column biz_tag that it
// found. With all tables there it only reads, but for the schema's version when none is recorded.
func setUpMySQL(ctx context.Context, db *sql.DB) (mysqlDialect, error) {
	all := tables(mysqlSchema)
	columns, err := mysqlColumns(ctx, db)
	if err != nil {
		return mysqlDialect{}, err
	}
	missing := missingTables(all, columns)
	for _, t := range missing {
		if err := createTable(ctx, db, t); err != nil {
			return mysqlDialect{}, err
		}
	}
	if len(missing) > 0 { // another node may have created them, and another version of redleaf may be that node
		if columns, err = mysqlColumns(ctx, db); err != nil {
			return mysqlDialect{}, err
		}
	}
	if err := checkColumns(all, columns); err != nil {
		return mysqlDialect{}, err
	}
	if err := checkEngines(ctx, db); err != nil {
		return mysqlDialect{}, err
	}
	d, err := readCollation(ctx, db)
	if err != nil {
		return mysqlDialect{}, err
	}
	texts := d.queries()
	return d, checkVersion(ctx, db, texts[qPutMeta], texts[qGetMeta])
}

func mysqlColumns(ctx context.Context, db runner) (map[string][]string, error) {
	columns, err := readColumns(ctx, db, "SELECT table_name, column_name FROM information_schema.columns "+
		"WHERE table_schema = DATABASE() AND table_name IN "+leafTables)
	if err != nil {
		return nil, fmt.Errorf("reading the tables' columns: %w", err)
	}
	return columns, nil
}

func createTable(ctx context.Context, db runner, t table) error {
	_, err := db.ExecContext(ctx, t.ddl)
	switch mysqlCode(err) {
	case errTableDenied, errDatabaseDenied, errAccessDenied:
		return fmt.Errorf("table %s is missing and the user may not create it: have the output of `redleaf schema` executed: %w", t.name, err)
	}
	if err != nil {
		return fmt.Errorf("creating table %s: %w", t.name, err)
	}
	return nil
}

// checkEngines refuses tables whose engine cannot roll back.
func checkEngines(ctx context.Context, db runner) error {
	var name, engine string
	err := db.QueryRowContext(ctx, "SELECT t.table_name, COALESCE(t.engine, t.table_type) FROM information_schema.tables t "+
		"LEFT JOIN information_schema.engines e ON e.engine = t.engine WHERE t.table_schema = DATABASE() "+
		"AND t.table_name IN "+leafTables+" AND COALESCE(e.transactions, 'NO') <> 'YES' ORDER BY 1 LIMIT 1").Scan(&name, &engine)
	switch err {
	case sql.ErrNoRows:
		return nil
	case nil:
		return fmt.Errorf("table %s is of engine %s, which has no transactions: ALTER TABLE %s ENGINE=InnoDB", name, engine, name)
	}
	return fmt.Errorf("reading the tables' engines: %w", err)
}

// readCollation reads how leaf_alloc.biz_tag compares.
func readCollation(ctx context.Context, db runner) (mysqlDialect, error) {
	var charset, collation sql.NullString
	err := db.QueryRowContext(ctx, "SELECT character_set_name, collation_name FROM information_schema.columns "+
		"WHERE table_schema = DATABASE() AND table_name = 'leaf_alloc' AND column_name = 'biz_tag'").Scan(&charset, &collation)
	if err != nil {
		return mysqlDialect{}, fmt.Errorf("reading the collation of leaf_alloc: %w", err)
	}
	if !charset.Valid {
		return mysqlDialect{collate: "binary"}, nil
	}
	// They become part of the statements.
	word := regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	if !word.MatchString(charset.String) || !word.MatchString(collation.String) {
		return mysqlDialect{}, fmt.Errorf("leaf_alloc.biz_tag has the odd collation %q of %q", collation.String, charset.String)
	}
	return mysqlDialect{charset: charset.String, collate: collation.String}, nil
}
