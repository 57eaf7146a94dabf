package mariadbtest

import (
	"context"
	"database/sql"
	"net"
	"testing"
	"time"
)

// Pair is a primary and an asynchronous replica of it.
type Pair struct {
	Primary, Replica *Server
}

// StartPair starts two servers, the second replicating the first.
func StartPair(t testing.TB) Pair {
	t.Helper()
	binlog := []string{"--log-bin=bin", "--binlog-format=ROW", "--sync-binlog=1", "--log-slave-updates"}
	p := Pair{
		Primary: Start(t, append(binlog, "--server-id=1")...),
		Replica: Start(t, append(binlog, "--server-id=2")...),
	}
	host, port, err := net.SplitHostPort(p.Primary.addr)
	if err != nil {
		t.Fatal(err)
	}
	admin := p.Replica.admin(t)
	// Both made the same user at their start: the replica begins after that.
	var file, position string
	var other sql.NullString
	if err := p.Primary.admin(t).QueryRowContext(t.Context(), "SHOW MASTER STATUS").Scan(&file, &position, &other, &other); err != nil {
		t.Fatal(err)
	}
	run(t, admin, "CHANGE MASTER TO master_host = '"+host+"', master_port = "+port+", master_user = '"+p.Primary.user+
		"', master_password = '"+p.Primary.password+"', master_log_file = '"+file+"', master_log_pos = "+position)
	run(t, admin, "START SLAVE")
	return p
}

// StopReplication has the replica stay as it is.
func (p Pair) StopReplication(t testing.TB) {
	t.Helper()
	run(t, p.Replica.admin(t), "STOP SLAVE")
}

// Promote makes the replica a server of its own.
func (p Pair) Promote(t testing.TB) {
	t.Helper()
	run(t, p.Replica.admin(t), "RESET SLAVE ALL")
}

// Await waits until the replica has what a query for one number returns on the primary.
func (p Pair) Await(t testing.TB, storeURL, query string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	var want, got int64
	if err := p.Primary.Open(t, storeURL).QueryRowContext(ctx, query).Scan(&want); err != nil {
		t.Fatal(err)
	}
	replica := p.Replica.Open(t, p.ReplicaURL(t, storeURL))
	for {
		err := replica.QueryRowContext(ctx, query).Scan(&got)
		if err == nil && got >= want {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("the replica has %d (%v), the primary %d", got, err, want)
		}
	}
}

// ReplicaURL is the URL of the primary's database on the replica.
func (p Pair) ReplicaURL(t testing.TB, storeURL string) string {
	t.Helper()
	return Through(t, storeURL, p.Replica.addr)
}

func (s *Server) admin(t testing.TB) *sql.DB { return s.Open(t, s.url("")) }

func run(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
