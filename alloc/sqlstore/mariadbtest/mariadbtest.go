// Package mariadbtest starts a private MariaDB server for a test.
package mariadbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// External names a server to use instead of a private one: mysql://USER:PASSWORD@HOST:PORT/, with all rights.
const External = "REDLEAF_TEST_MYSQL"

const startTimeout = time.Minute

// Server is a database server that one test has for itself, unless it is the one that External names.
type Server struct {
	dir, addr      string
	user, password string
	args           []string
	process        *exec.Cmd     // nil: not running, or external
	gone           chan struct{} // closed when process has ended
	databases      atomic.Int64
}

// Start starts a server with additional arguments for mariadbd, and ends it after the test. With arguments the server
// is private even if External is set.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	if external := os.Getenv(External); external != "" && len(args) == 0 {
		return attach(t, external)
	}
	s := &Server{dir: tempDir(t), user: "redleaf", password: "p@ss/w:rd?", args: args}
	s.install(t)
	s.addr = freeAddr(t)
	t.Cleanup(s.Kill)
	s.Restart(t)
	return s
}

// StartPrivate starts a server that the test may kill and restart, even if External is set.
func StartPrivate(t testing.TB) *Server {
	t.Helper()
	return Start(t, "--skip-name-resolve")
}

func attach(t testing.TB, external string) *Server {
	t.Helper()
	u, err := url.Parse(external)
	if err != nil {
		t.Fatalf("%s is not a URL", External) // which may hold a password
	}
	password, _ := u.User.Password()
	return &Server{addr: u.Host, user: u.User.Username(), password: password}
}

// Addr is the server's host:port.
func (s *Server) Addr() string { return s.addr }

// Database creates an empty database and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	admin := s.Open(t, s.url(""))
	name := fmt.Sprintf("redleaf_%d_%d_%d", os.Getpid(), time.Now().UnixNano(), s.databases.Add(1))
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatalf("creating database: %v", err)
	}
	if s.dir == "" {
		t.Cleanup(func() {
			if _, err := admin.ExecContext(context.WithoutCancel(t.Context()), "DROP DATABASE "+name); err != nil {
				t.Errorf("dropping database: %v", err)
			}
		})
	}
	return s.url(name)
}

func (s *Server) url(database string) string {
	u := url.URL{Scheme: "mysql", User: url.UserPassword(s.user, s.password), Host: s.addr, Path: "/" + database}
	return u.String()
}

// Open returns a plain handle, with the driver's and the server's defaults, on a URL that Database returned.
func (s *Server) Open(t testing.TB, storeURL string) *sql.DB {
	t.Helper()
	u, err := url.Parse(storeURL)
	if err != nil {
		t.Fatal(err)
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Logger = &mysql.NopLogger{}
	if err := c.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		t.Fatal(err)
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Kill ends the server at once, as a crash does, and waits for its end.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill() // fails only if it has ended
	<-s.gone
	s.process = nil
}

// Restart starts the server on its old data and address, and waits until it answers.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if s.dir == "" {
		t.Fatalf("the server that %s names cannot be restarted: use StartPrivate", External)
	}
	s.run(t)
	s.await(t)
}

// await polls: a server has no other way to say that it is up.
func (s *Server) await(t testing.TB) {
	t.Helper()
	db := s.Open(t, s.url(""))
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.gone:
			t.Fatalf("mariadbd ended:\n%s", s.log())
		case <-ctx.Done():
			t.Fatalf("mariadbd does not answer: %v\n%s", err, s.log())
		}
	}
}

func (s *Server) log() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(text) + fmt.Sprint(errors.Join(err))
}

// tempDir makes a folder with a short name, unlike t.TempDir: the path of a socket has little room.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mariadb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing the server's folder: %v", err)
		}
	})
	return dir
}

func freeAddr(t testing.TB) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return addr
}
