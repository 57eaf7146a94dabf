// Package torture tries to make redleaf repeat an id or hang: real processes on a real MariaDB and on SQLite, clients that
// keep every id they receive, proxies between the nodes and the database, and faults by the dozen.
//
// A short run is part of `make test`; `make torture` runs for long and writes docs/torture.md. -torture.seed repeats the
// order and the parameters of a run's faults.
package torture
