// Package sqlstore keeps tags, worker windows and heartbeats in SQL: in a SQLite file or in a MySQL or MariaDB
// database. All SQL of the program is here. An existing Leaf database is used as it is.
package sqlstore
