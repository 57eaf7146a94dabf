package httpd

import (
	"cmp"
	"context"
	"log/slog"

	"redleaf/alloc"
	"redleaf/server"
	"redleaf/snowflake"
)

// Config configures a Server. Zero values mean the defaults named.
type Config struct {
	Redis      *server.Server   // whose users, rights and sums these are
	Segments   *alloc.Allocator // nil: segment mode is off
	Snowflakes *snowflake.Node  // nil: snowflake mode is off
	Workers    WorkerLister     // the worker ids of all nodes; nil: only this node's are shown
	Layout     snowflake.Layout // of the ids that are decoded; Snowflakes' or the default

	MaxBatch int64   // most ids of one request; 1,000,000
	MaxConns int     // connections at a time; 1,000
	MaxTags  int     // tags with metrics of their own; 100. Negative: none
	Leases   *Leases // observed by the allocator's store; nil: their times are not known

	NodeID  string       // of this process
	Version string       // redleaf's
	Logger  *slog.Logger // nowhere
}

// WorkerLister lists the rows of worker ids, as snowflake.Windows does.
type WorkerLister interface {
	Workers(ctx context.Context, lo, hi int) ([]snowflake.Worker, error)
}

func (c Config) withDefaults() Config {
	if c.Snowflakes != nil {
		c.Layout = c.Snowflakes.Layout()
	}
	c.Layout = cmp.Or(c.Layout, snowflake.DefaultLayout())
	c.MaxBatch = cmp.Or(c.MaxBatch, 1_000_000)
	c.MaxConns = cmp.Or(c.MaxConns, 1000)
	c.MaxTags = cmp.Or(c.MaxTags, 100)
	if c.Leases == nil {
		c.Leases = NewLeases()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
