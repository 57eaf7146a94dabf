package httpd

import (
	"context"
	"errors"
	"sync"
	"time"

	"redleaf/alloc"
)

const (
	catalogPage = 1000            // rows read by one statement
	catalogMax  = 200_000         // rows that pages show
	catalogAge  = 5 * time.Second // how long what was read is good for
	catalogPart = 20              // reading may take one part in so many of the time
	catalogWait = time.Second     // how long a page waits for a reading; then it shows what was there before
	catalogTime = time.Minute     // how long a reading may take
)

// catalog is the rows of the store as they were read last. They are read only while somebody looks. Safe for concurrent
// use.
type catalog struct {
	mu      sync.Mutex // protects everything below
	rows    []alloc.Row
	at      time.Time     // when they were read
	tried   time.Time     // when reading them was tried last
	took    time.Duration // to try
	whole   bool          // there are no more rows than these
	err     error         // why reading them again failed
	reading chan struct{} // closed at the end of the reading that is under way; nil without one
	changed bool          // since that reading began
}

var errUnread = errors.New("its first answer is awaited")

// listing is a copy of the catalog. Its rows are not changed any more.
type listing struct {
	rows  []alloc.Row
	at    time.Time
	whole bool
	err   error
}

// list returns the rows, read anew when they are old. The reading goes on when it takes longer than a page waits, so that
// a store that does not answer holds up no page.
func (c *catalog) list(ctx context.Context, a *alloc.Allocator) listing {
	c.mu.Lock()
	if c.reading == nil && time.Since(c.tried) > max(catalogAge, catalogPart*c.took) {
		c.reading, c.changed = make(chan struct{}), false
		go c.read(context.WithoutCancel(ctx), a, c.reading)
	}
	done := c.reading
	c.mu.Unlock()
	if done != nil {
		ctx, cancel := context.WithTimeout(ctx, catalogWait)
		defer cancel()
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	return c.copy()
}

func (c *catalog) copy() listing {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := listing{c.rows, c.at, c.whole, c.err}
	if l.err == nil && l.at.IsZero() {
		l.err = errUnread
	}
	return l
}

// read reads all rows and closes done. What was read in part is not kept.
func (c *catalog) read(ctx context.Context, a *alloc.Allocator, done chan<- struct{}) {
	ctx, cancel := context.WithTimeout(ctx, catalogTime)
	defer cancel()
	begun := time.Now()
	rows, whole, err := readRows(ctx, a)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried, c.err, c.took = time.Now(), err, time.Since(begun)
	if err == nil {
		c.rows, c.whole, c.at = rows, whole, c.tried
	}
	if c.changed {
		c.tried = time.Time{}
	}
	c.reading = nil
	close(done)
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
	c.tried, c.changed = time.Time{}, true
}
