package sqlstore

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"redleaf/alloc/sqlstore/mariadbtest"
	"redleaf/snowflake"
)

// A row that somebody holds locked costs a call its deadline, and the server does not change the row after that.
func TestStatementTimeout(t *testing.T) {
	const timeout = 400 * time.Millisecond
	server := mariadbtest.StartPrivate(t)
	url := server.Database(t)
	raw := server.Open(t, url)
	s := openWith(t, url, Options{StatementTimeout: timeout, ConnectTimeout: 10 * time.Second})
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Fatal(err)
	}
	tx := begin(t, raw)
	mustExec(t, tx, "UPDATE leaf_alloc SET step = 11 WHERE biz_tag = 'orders'")
	for _, within := range []time.Duration{0, timeout / 4} { // 0: the call has no deadline of its own
		ctx, limit := t.Context(), timeout
		if within > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, within)
			defer cancel()
			limit = within
		}
		start := time.Now()
		_, err := s.Lease(ctx, "orders", 5)
		if took := time.Since(start); err == nil || isSentinel(err) || took > limit+300*time.Millisecond {
			t.Errorf("lease from a locked row, limit %v: %v after %v", limit, err, took)
		}
	}
	awaitLockWaits(t, raw, 0)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Lease(t.Context(), "orders", 5); err != nil || r.First != 1 {
		t.Errorf("then leased %v, %v: want from 1", r, err)
	}
}

// The connection breaks after the server has executed the statement and before its reply: the call fails, with no
// sentinel, and the statement is not repeated.
func TestLostReply(t *testing.T) {
	server := mariadbtest.Start(t)
	url := server.Database(t)
	raw := server.Open(t, url)
	p := startProxy(t, server.Addr())
	s := openStore(t, strings.Replace(url, server.Addr(), p.addr(), 1))
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Fatal(err)
	}
	maxID := func() int64 { return queryInt(t, raw, "SELECT max_id FROM leaf_alloc WHERE biz_tag = 'orders'") }
	lost := func(call string, f func() error) {
		t.Helper()
		p.armed.Store(true)
		err := f()
		if n := p.cuts.Swap(0); err == nil || isSentinel(err) || n != 1 {
			t.Errorf("%s: %v after %d executions, want a plain error after 1", call, err, n)
		}
		p.armed.Store(false)
	}
	lost("lease", func() error { _, err := s.Lease(t.Context(), "orders", 100); return err })
	if got := maxID(); got != 101 {
		t.Errorf("max_id is %d after a lease of 100", got)
	}
	lost("give back", func() error { _, err := s.GiveBack(t.Context(), "orders", 101, 51); return err })
	if got := maxID(); got != 51 {
		t.Errorf("max_id is %d after giving back to 51", got)
	}
	w := snowflake.Worker{ID: 3, Token: 77, Until: 1000}
	lost("claim", func() error { return s.Swap(t.Context(), 0, w) })
	w.Token = 78
	lost("swap", func() error { return s.Swap(t.Context(), 77, w) })
	if workers, err := s.Workers(t.Context(), 0, 10); err != nil || len(workers) != 1 || workers[0] != w {
		t.Errorf("workers %v, %v", workers, err)
	}
	if r, err := s.Lease(t.Context(), "orders", 1); err != nil || r.First != 51 {
		t.Errorf("then leased %v, %v", r, err)
	}
}

// A server that crashes and comes back keeps what it acknowledged, and the store goes on with new connections.
func TestServerCrash(t *testing.T) {
	server := mariadbtest.StartPrivate(t)
	s := openStore(t, server.Database(t))
	if err := s.Create(t.Context(), "orders", 10, 0); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Lease(t.Context(), "orders", 100); err != nil || r.First != 1 {
		t.Fatalf("leased %v, %v", r, err)
	}
	server.Kill()
	if _, err := s.Lease(t.Context(), "orders", 100); err == nil || isSentinel(err) {
		t.Errorf("lease without a server: %v", err)
	}
	server.Restart(t)
	if r, err := s.Lease(t.Context(), "orders", 100); err != nil || r.First != 101 {
		t.Errorf("leased %v, %v after the crash, want from 101", r, err)
	}
}

// signal is a slog.Handler that tells of warnings.
type signal struct {
	slog.Handler
	warned chan string
}

func (s signal) Handle(_ context.Context, r slog.Record) error {
	if r.Level == slog.LevelWarn {
		select {
		case s.warned <- r.Message:
		default:
		}
	}
	return nil
}

func (s signal) Enabled(context.Context, slog.Level) bool { return true }

// Open waits for a server that starts later than redleaf does.
func TestStartBeforeServer(t *testing.T) {
	server := mariadbtest.StartPrivate(t)
	url := server.Database(t)
	server.Kill()
	warned := make(chan string, 1)
	opened := make(chan error, 1)
	go func() {
		s, err := Open(t.Context(), url, Options{ConnectTimeout: 30 * time.Second, Logger: slog.New(signal{slog.DiscardHandler, warned})})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	<-warned
	server.Restart(t)
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// A server that never answers, or takes the connection and says nothing, is given up in time.
func TestNoServer(t *testing.T) {
	silent := listen(t)
	closed := listen(t)
	closed.Close()
	for _, addr := range []string{silent.Addr().String(), closed.Addr().String()} {
		start := time.Now()
		_, err := Open(t.Context(), "mysql://u:secret@"+addr+"/d", Options{ConnectTimeout: 200 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), addr) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, "mysql://u:secret@"+closed.Addr().String()+"/d", Options{ConnectTimeout: time.Hour}); err == nil {
		t.Error("opened under a context that is over")
	}
}
