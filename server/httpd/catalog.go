package httpd

import (
	"context"
	"sync"
	"time"

	"redleaf/alloc"
)

const (
	catalogPage = 1000            // rows read by one statement
	catalogMax  = 200_000         // rows that pages show
	catalogAge  = 5 * time.Second // how long what was read is good for
	catalogPart = 20              // reading may take one part in so many of the time
)

// catalog is the rows of the store as they were read last. They are read only while somebody looks. Safe for concurrent
// use.
type catalog struct {
	reading sync.Mutex // held by the one who reads; the others take what is there

	mu    sync.Mutex // protects everything below
	rows  []alloc.Row
	at    time.Time     // when they were read
	tried time.Time     // when reading them was tried last
	took  time.Duration // to read them
	whole bool          // there are no more rows than these
	err   error         // why reading them again failed
}

// listing is a copy of the catalog. Its rows are not changed any more.
type listing struct {
	rows  []alloc.Row
	at    time.Time
	whole bool
	err   error
}

// list returns the rows, read anew when they are old. Somebody else's reading is waited for only while there are none.
func (c *catalog) list(ctx context.Context, a *alloc.Allocator) listing {
	c.mu.Lock()
	old, none := time.Since(c.tried) > max(catalogAge, catalogPart*c.took), c.at.IsZero()
	c.mu.Unlock()
	if old || none {
		if none {
			c.reading.Lock()
		} else if !c.reading.TryLock() {
			return c.copy()
		}
		c.read(ctx, a, none)
		c.reading.Unlock()
	}
	return c.copy()
}

func (c *catalog) copy() listing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return listing{c.rows, c.at, c.whole, c.err}
}

// read reads all rows. What was read in part is not kept.
func (c *catalog) read(ctx context.Context, a *alloc.Allocator, unlessDone bool) {
	c.mu.Lock()
	done := unlessDone && !c.at.IsZero()
	c.mu.Unlock()
	if done {
		return
	}
	begun := time.Now()
	rows, whole, err := readRows(ctx, a)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried, c.err, c.took = time.Now(), err, time.Since(begun)
	if err == nil {
		c.rows, c.whole, c.at = rows, whole, c.tried
	}
}

func readRows(ctx context.Context, a *alloc.Allocator) (rows []alloc.Row, whole bool, err error) {
	after := ""
	for len(rows) < catalogMax {
		page, err := a.List(ctx, after, catalogPage)
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, page...)
		if len(page) < catalogPage {
			return rows, true, nil
		}
		after = page[len(page)-1].Tag
	}
	return rows, false, nil
}

// forget makes the next look read again, after a change made here.
func (c *catalog) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried = time.Time{}
}
