package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"redleaf/alloc/sqlstore"
)

// storeFlags say which database is the store.
type storeFlags struct {
	Store             string        `default:"sqlite:redleaf.db" placeholder:"URL" help:"sqlite:FILE or mysql://USER:PASSWORD@HOST:PORT/DATABASE?PARAM=VALUE, percent-encoded; parameters are go-sql-driver's (default: ${default})."`
	StorePasswordFile string        `placeholder:"FILE" help:"File with the database password, which then stands in no argument and no environment."`
	StatementTimeout  time.Duration `default:"2s" placeholder:"TIME" help:"Longest time for one statement (default: ${default})."`
	StoreTimeout      time.Duration `default:"30s" placeholder:"TIME" help:"How long to try to reach the database at start (default: ${default})."`
}

func (f storeFlags) isSQLite() bool { return strings.HasPrefix(f.Store, "sqlite:") }

func (f storeFlags) check() error {
	if f.StatementTimeout < 10*time.Millisecond {
		return fmt.Errorf("--statement-timeout %v: want 10ms or more", f.StatementTimeout)
	}
	if f.StoreTimeout < 0 {
		return fmt.Errorf("--store-timeout %v: want 0 or more", f.StoreTimeout)
	}
	return nil
}

// openStore opens the store, waiting for a database that does not answer yet.
func (f storeFlags) openStore(ctx context.Context, init bool, log *slog.Logger) (*sqlstore.Store, error) {
	return f.openAdmitting(ctx, sqlstore.Options{Init: init, Logger: log})
}

// openAdmitting is openStore with options of which the flags set the rest.
func (f storeFlags) openAdmitting(ctx context.Context, opts sqlstore.Options) (*sqlstore.Store, error) {
	password, err := f.password()
	if err != nil {
		return nil, err
	}
	opts.Password, opts.StatementTimeout, opts.ConnectTimeout = password, f.StatementTimeout, f.StoreTimeout
	store, err := sqlstore.Open(ctx, f.Store, opts)
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	return store, nil
}

func (f storeFlags) password() (string, error) {
	if f.StorePasswordFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(f.StorePasswordFile)
	if err != nil {
		return "", fmt.Errorf("--store-password-file: %w", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}
