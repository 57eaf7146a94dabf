package httpd

import (
	"context"
	"sync"
	"time"

	"redleaf/snowflake"
)

const (
	workersAge     = 2 * time.Second
	workersTimeout = 500 * time.Millisecond
)

// workerRows is who holds which worker ids, as read last. Safe for concurrent use.
type workerRows struct {
	mu   sync.Mutex // protects everything below, and reading
	rows []snowflake.Worker
	at   time.Time
}

// byOwner returns the rows whose windows are not over, by the id of the node that wrote them.
func (c *workerRows) byOwner(ctx context.Context, from WorkerLister, l snowflake.Layout) map[string][]snowflake.Worker {
	if from == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) > workersAge {
		ctx, cancel := context.WithTimeout(ctx, workersTimeout)
		defer cancel()
		if rows, err := from.Workers(ctx, 0, l.MaxWorker()); err == nil {
			c.rows = rows
		}
		c.at = time.Now()
	}
	now := time.Now().UnixMilli()
	all := map[string][]snowflake.Worker{}
	for _, w := range c.rows {
		if w.Until > now {
			all[w.Owner] = append(all[w.Owner], w)
		}
	}
	return all
}
