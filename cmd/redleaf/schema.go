package main

import (
	"fmt"

	"redleaf/alloc/sqlstore"
)

type schemaCmd struct {
	Store string `default:"sqlite:redleaf.db" placeholder:"URL" help:"The store whose dialect to print, as for serve (default: ${default})."`
}

// Run prints the DDL. The database is not opened.
func (c *schemaCmd) Run(to *streams) error {
	ddl, err := sqlstore.Schema(c.Store)
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	_, err = fmt.Fprint(to.out, ddl)
	return err
}
