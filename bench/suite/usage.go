package main

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"redleaf/bench"
)

// usage is what a fleet used in some time.
type usage struct {
	took     time.Duration
	status   map[string]int64 // MariaDB's counters
	database time.Duration    // its CPU time
	nodes    time.Duration    // theirs together
}

// per returns a counter's growth per second.
func (u usage) per(counters ...string) float64 {
	var sum int64
	for _, c := range counters {
		sum += u.status[c]
	}
	return float64(sum) / u.took.Seconds()
}

// look reads all counters.
func (f *fleet) look(ctx context.Context) (u usage, err error) {
	if u.status, err = readStatus(ctx, f.database.addr); err != nil {
		return u, err
	}
	if u.database, err = bench.ProcessCPU(f.database.pid()); err != nil {
		return u, err
	}
	for _, n := range f.nodes {
		cpu, err := bench.ProcessCPU(n.pid())
		if err != nil {
			return u, err
		}
		u.nodes += cpu
	}
	return u, nil
}

// during measures what the fleet uses while something happens.
func (f *fleet) during(ctx context.Context, what func() error) (u usage, err error) {
	before, err := f.look(ctx)
	if err != nil {
		return u, err
	}
	began := time.Now()
	if err := what(); err != nil {
		return u, err
	}
	u.took = time.Since(began)
	after, err := f.look(ctx)
	if err != nil {
		return u, err
	}
	u.status = map[string]int64{connected: after.status[connected]} // a gauge
	for name, n := range after.status {
		if name != connected {
			u.status[name] = n - before.status[name]
		}
	}
	u.database, u.nodes = after.database-before.database, after.nodes-before.nodes
	return u, nil
}

// connected is the counter that is none: how many connections there are now.
const connected = "Threads_connected"

// readStatus reads MariaDB's counters.
func readStatus(ctx context.Context, addr string) (status map[string]int64, err error) {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd = "tcp", addr, "bench", "bench"
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL STATUS")
	if err != nil {
		return nil, fmt.Errorf("reading MariaDB's counters: %w", err)
	}
	defer func() { _ = rows.Close() }()
	status = map[string]int64{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		if n, err := strconv.ParseInt(value, 10, 64); err == nil { // others are words
			status[name] = n
		}
	}
	return status, rows.Err()
}
