package server

import (
	"cmp"
	"log/slog"
	"time"

	"redleaf/alloc"
	"redleaf/snowflake"
)

// Config configures a Server. Zero values mean the defaults named.
type Config struct {
	Segments   *alloc.Allocator // nil: segment mode is off
	Snowflakes *snowflake.Node  // nil: snowflake mode is off
	Nodes      alloc.Nodes      // the nodes that INFO lists; nil: none

	Password    string // of the default user; "": none
	ACL         string // users, as lines of a Redis ACL file; "": the default user only
	Unprotected bool   // where AUTH is not needed, serve clients that are not on the loopback interface
	Cluster     bool   // show the nodes as a Redis Cluster
	Sentinel    string // answer SENTINEL for a master of this name; "": not at all
	BareKeys    bool   // a key without a prefix is a segment's tag
	MaxBatch    int64  // largest INCRBY and LPOP count; 1,000,000
	MaxClients  int    // connections at a time; 10,000

	MaxRequest   int           // largest request, in bytes; 1 MiB
	MaxOutput    int64         // largest reply held for one client, in bytes; 64 MiB
	MaxMemory    int64         // bytes for large requests, replies and transactions, all clients together; 512 MiB
	IdleTimeout  time.Duration // a connection without requests is closed after it; 0: never
	WriteTimeout time.Duration // how long a client may take to accept 256 KiB of replies; 10 s

	StoreName  string         // what INFO calls the store
	Advertise  string         // the address that other nodes and clients are told
	Version    string         // redleaf's
	NodeID     string         // of this process
	OnShutdown func()         // what SHUTDOWN does; nil: it is refused
	LogLevel   *slog.LevelVar // what CONFIG SET loglevel changes; nil: it can't be changed
	Logger     *slog.Logger   // nowhere
}

func (c Config) withDefaults() Config {
	c.MaxBatch = cmp.Or(c.MaxBatch, 1_000_000)
	c.MaxClients = cmp.Or(c.MaxClients, 10_000)
	c.MaxRequest = cmp.Or(c.MaxRequest, 1<<20)
	c.MaxOutput = cmp.Or(c.MaxOutput, 64<<20)
	c.MaxMemory = cmp.Or(c.MaxMemory, 512<<20)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 10*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
