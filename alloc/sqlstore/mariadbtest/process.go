package mariadbtest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// grant makes the user that tests log in as. mariadbd runs it at each start.
const grant = `CREATE USER IF NOT EXISTS redleaf@'%' IDENTIFIED BY 'p@ss/w:rd?';
GRANT ALL ON *.* TO redleaf@'%' WITH GRANT OPTION;
`

// find returns the path of one of the server's programs.
func find(t testing.TB, name string) string {
	t.Helper()
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/usr/bin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	t.Fatalf("%s is not installed: run make deps", name)
	return ""
}

// install makes the system tables. --skip-test-db and small logs save most of the time that it takes.
func (s *Server) install(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "grant.sql"), []byte(grant), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.tmp(), 0o700); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--no-defaults", "--datadir=" + filepath.Join(s.dir, "data"), "--tmpdir=" + s.tmp(), "--auth-root-authentication-method=normal",
		"--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=4M", "--innodb-flush-log-at-trx-commit=0"}, asRoot()...)
	if out, err := exec.CommandContext(t.Context(), find(t, "mariadb-install-db"), args...).CombinedOutput(); err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
}

// tmp is the server's folder for temporary tables. A server that starts removes those of all others in the same folder.
func (s *Server) tmp() string { return filepath.Join(s.dir, "tmp") }

// asRoot lets the server run as root, where the tests do.
func asRoot() []string {
	if os.Getuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}

// run starts the process.
func (s *Server) run(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the server has its own handle
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--no-defaults", "--datadir=" + filepath.Join(s.dir, "data"), "--tmpdir=" + s.tmp(), "--socket=" + s.Socket(),
		"--pid-file=" + filepath.Join(s.dir, "pid"), "--bind-address=127.0.0.1", "--port=" + port,
		"--init-file=" + filepath.Join(s.dir, "grant.sql"), "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=4M",
		"--innodb-flush-log-at-trx-commit=1", "--key-buffer-size=64K", "--performance-schema=OFF"}, asRoot()...)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), find(t, "mariadbd"), append(args, s.args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // killed: it always fails
		close(gone)
	}()
	s.process, s.gone = cmd, gone
}

// Socket is the path of the server's Unix socket, "" for the server that External names.
func (s *Server) Socket() string {
	if s.dir == "" {
		return ""
	}
	return filepath.Join(s.dir, "socket")
}
