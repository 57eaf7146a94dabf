package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"redleaf/alloc/sqlstore/faultnet"
)

// grant makes the database and the user that redleaf logs in as. mariadbd runs it at its start.
const grant = `CREATE DATABASE ids;
CREATE USER bench@'%' IDENTIFIED BY 'bench';
GRANT ALL ON ids.* TO bench@'%';
`

// startMariaDB starts a MariaDB that keeps what it acknowledged, as redleaf needs it, with the database ids in it. More
// settings are arguments for mariadbd.
func (s *suite) startMariaDB(ctx context.Context, more ...string) (*server, error) {
	dir, err := os.MkdirTemp(s.dir, "mariadb")
	if err != nil {
		return nil, err
	}
	var asRoot []string
	if os.Getuid() == 0 {
		asRoot = []string{"--user=root"}
	}
	data, init := filepath.Join(dir, "data"), filepath.Join(dir, "init.sql")
	if err := os.WriteFile(init, []byte(grant), 0o600); err != nil {
		return nil, err
	}
	installer, err := find("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	args := append([]string{"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"}, asRoot...)
	if out, err := exec.CommandContext(ctx, installer, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	settings := append([]string{"--innodb-flush-log-at-trx-commit=1"}, more...)
	srv := &server{name: "MariaDB", command: "mariadbd --no-defaults " + join(settings)}
	err = s.start(ctx, srv, "mariadbd", func(port string) []string {
		return slices.Concat([]string{"--no-defaults", "--datadir=" + data, "--socket=" + filepath.Join(dir, "s"), "--pid-file=" + filepath.Join(dir, "pid"),
			"--bind-address=127.0.0.1", "--port=" + port, "--init-file=" + init, "--skip-name-resolve"}, settings, asRoot)
	})
	return srv, err
}

// startOnMariaDB starts redleaf on a MariaDB. The returned function ends both.
func (s *suite) startOnMariaDB(ctx context.Context, args ...string) (srv *server, stop func(), err error) {
	return s.startFarFromMariaDB(ctx, 0, args...)
}

// startFarFromMariaDB starts redleaf on a MariaDB whose replies take so much longer. The returned function ends both.
func (s *suite) startFarFromMariaDB(ctx context.Context, lag time.Duration, args ...string) (srv *server, stop func(), err error) {
	database, err := s.startMariaDB(ctx)
	if err != nil {
		return nil, nil, err
	}
	addr, away := database.addr, database.stop
	if lag > 0 {
		proxy, err := faultnet.Start(addr)
		if err != nil {
			database.stop()
			return nil, nil, err
		}
		proxy.Lag(lag)
		addr, away = proxy.Addr(), func() { proxy.Close(); database.stop() }
	}
	args = append(args, "--auto-create")
	srv, err = s.startRedleaf(ctx, "redleaf on MariaDB", append(args, "--store", "mysql://bench:bench@"+addr+"/ids")...)
	if err != nil {
		away()
		return nil, nil, err
	}
	srv.command = fmt.Sprint("redleaf serve --store mysql://... ", join(args))
	return srv, func() { srv.stop(); away() }, nil
}
