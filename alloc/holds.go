package alloc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

const (
	strictEvery    = time.Second             // between two looks at the strict tags: a third of StrictLease
	maxStrictPause = 4 * time.Second         // the same, while they fail and nothing is held
	strictIdle     = 10 * time.Second        // without draws, after which a tag is left to others
	confirmEvery   = time.Minute             // how often a node says that it is still there, if nothing changed
	confirmTime    = 2500 * time.Millisecond // for which MakeStrict waits for the nodes, which look once a second
)

// holds is an allocator's part in serving strict tags. A tag's own part is under the tag's lock: see tag.held.
type holds struct {
	a     *Allocator
	store Stricts
	node  string // its id
	addr  string
	self  int64 // names this process in the rows: never 0, and no other's

	tags atomic.Pointer[map[string]StrictTag] // the rows, as last read; never written to
	any  atomic.Bool                          // one of them is strict
	kick chan struct{}                        // has the next look be now

	mu   sync.Mutex // protects seen
	seen map[string]sighting

	// The rest is the looking goroutine's.
	confirmed int64
	told      time.Time // when that was written
}

// sighting is since when a row has looked as it does.
type sighting struct {
	row   StrictTag
	since time.Time
}

// ServeStrict has the allocator serve strict tags, as the node of this id at this address. It is called before the first
// draw, and fails if the store does: what it says must be there before this node leases anything.
func (a *Allocator) ServeStrict(ctx context.Context, store Stricts, node, addr string) error {
	h := &holds{
		a: a, store: store, node: node, addr: addr, self: 1 + rand.Int64N(math.MaxInt64-1),
		kick: make(chan struct{}, 1), seen: map[string]sighting{},
	}
	h.tags.Store(&map[string]StrictTag{})
	// The order matters. Whoever makes a tag strict writes that first and then looks for nodes: either it waits for this
	// one, or this one reads that the tag is strict.
	if err := store.Confirm(ctx, node, addr, 0); err != nil {
		return err
	}
	if err := h.look(); err != nil {
		return err
	}
	a.holds = h
	a.work.Go(h.run)
	return nil
}

// run looks at the strict tags until the allocator closes.
func (h *holds) run() {
	failing := 0
	for {
		timer := time.NewTimer(h.pause(failing))
		select {
		case <-timer.C:
		case <-h.kick:
		case <-h.a.quit.Done():
			return
		}
		timer.Stop()
		err := h.look()
		if err != nil && failing == 0 && h.any.Load() && h.a.quit.Err() == nil {
			h.a.cfg.Logger.Warn("looking at the strict tags failed", "err", err)
		}
		if failing++; err == nil {
			failing = 0
		}
	}
}

// pause returns how long to wait before the next look, after so many that failed in a row. A node that holds nothing has
// time: a store that can't keep up with its nodes must be asked less.
func (h *holds) pause(failing int) time.Duration {
	if failing == 0 || len(h.held()) > 0 {
		return strictEvery
	}
	d := min(strictEvery<<min(failing, 10), maxStrictPause)
	return d/2 + rand.N(d/2)
}

// look makes this node's holds last longer, and learns who holds what and which tags are strict.
func (h *holds) look() error {
	held := h.held()
	sent := time.Now()
	if len(held) > 0 {
		if err := h.statement(func(ctx context.Context) error { return h.store.RenewHolds(ctx, h.self) }); err != nil {
			return err
		}
	}
	var rows []StrictTag
	err := h.statement(func(ctx context.Context) (err error) {
		rows, err = h.store.StrictTags(ctx)
		return err
	})
	if err != nil {
		return err
	}
	latest := h.learn(rows, time.Now())
	for _, t := range held {
		if row, ok := (*h.tags.Load())[t.name]; ok {
			t.renewed(row, h.self, sent)
		}
	}
	h.tidy(rows)
	return h.confirm(latest)
}

func (h *holds) statement(f func(context.Context) error) error {
	ctx, cancel := h.a.statement()
	defer cancel()
	return f(ctx)
}

// held returns the tags that this node holds.
func (h *holds) held() (all []*tag) {
	for name := range *h.tags.Load() {
		if t := h.a.tags.get([]byte(name)); t != nil && t.isHeld() {
			all = append(all, t)
		}
	}
	return all
}

// learn takes in what the rows were not later than now, and returns the last change among them.
func (h *holds) learn(rows []StrictTag, now time.Time) (latest int64) {
	tags := make(map[string]StrictTag, len(rows))
	strict := false
	for _, row := range rows {
		tags[row.Tag] = row
		strict = strict || row.Strict
		latest = max(latest, row.Change)
		h.sighted(row, now)
	}
	h.tags.Store(&tags)
	h.any.Store(strict)
	for _, row := range rows { // after the map is there: a tag put to use meanwhile looks there
		if t := h.a.tags.get([]byte(row.Tag)); t != nil {
			t.mu.Lock()
			t.heed(row)
			t.mu.Unlock()
		}
	}
	return latest
}

// sighted returns for how long at least nobody has written the row, which was read not later than now.
func (h *holds) sighted(row StrictTag, now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.seen[row.Tag]
	if !ok || !s.row.same(row) {
		h.seen[row.Tag] = sighting{row, now}
		return 0
	}
	return now.Sub(s.since)
}

// confirm tells the other nodes up to which change this one acts on what they said.
func (h *holds) confirm(latest int64) error {
	if latest == h.confirmed && time.Since(h.told) < confirmEvery {
		return nil
	}
	err := h.statement(func(ctx context.Context) error { return h.store.Confirm(ctx, h.node, h.addr, latest) })
	if err == nil {
		h.confirmed, h.told = latest, time.Now()
	}
	return err
}

// tidy lets go of tags that are not asked for, and of those that the rows say this node holds though it does not: it took
// hold of them by a statement of which it got no reply.
func (h *holds) tidy(rows []StrictTag) {
	for _, row := range rows {
		if row.Holder != h.self {
			continue
		}
		if t := h.a.tags.get([]byte(row.Tag)); t != nil && t.idle(time.Now()) {
			h.a.handBack(t)
		}
	}
}

// take has this node hold the tag, if nobody else does. The tag's loader is held.
func (h *holds) take(t *tag) error {
	row, quiet, err := h.read(t.name)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.heed(row)
	strict := t.strict
	t.mu.Unlock()
	switch {
	case !strict:
		return nil
	case !row.Strict:
		return errContested
	case row.Holder != 0 && row.Holder != h.self && quiet < StrictLease+strictMargin:
		return &HeldError{t.name, row.Addr}
	}
	sent := time.Now()
	var ok bool
	err = h.statement(func(ctx context.Context) (err error) {
		ok, err = h.store.Hold(ctx, row, h.self, h.addr)
		return err
	})
	if err != nil {
		return err
	}
	if !ok {
		return errContested
	}
	if row.Holder != 0 && row.Holder != h.self {
		h.a.cfg.Logger.Warn("took over a strict tag from a node that was silent", "tag", t.name, "node", row.Addr, "silent", quiet.Round(time.Millisecond))
	}
	return t.took(row, sent)
}

// read reads the tag's row, and for how long at least nobody has written it.
func (h *holds) read(name string) (row StrictTag, quiet time.Duration, err error) {
	err = h.statement(func(ctx context.Context) (err error) {
		row, err = h.store.StrictTag(ctx, name)
		return err
	})
	if errors.Is(err, ErrNoTag) { // not the error of a tag that is not there
		err = fmt.Errorf("the database lost the row of strict tag '%s': say HSET segment:%s strict 1 again", name, name)
	}
	if err != nil {
		return row, 0, err
	}
	return row, h.sighted(row, time.Now()), nil
}

// release has nobody hold the tag, if this node does. The tag's loader is held, and the tag is not: nothing but a renewal
// can come between.
func (h *holds) release(ctx context.Context, name string) error {
	for range 3 {
		row, err := h.store.StrictTag(ctx, name)
		if err != nil || row.Holder != h.self {
			return err
		}
		if ok, err := h.store.Hold(ctx, row, 0, ""); ok || err != nil {
			return err
		}
	}
	return errContested
}

// withdraw says that this node draws no more. It is tried even where no time is left: until it is said, no tag is made
// strict without this node.
func (h *holds) withdraw() error {
	ctx, cancel := context.WithTimeout(context.Background(), h.a.cfg.StatementTimeout)
	defer cancel()
	return h.store.Withdraw(ctx, h.node)
}

// row returns what was last read of a tag that is or was strict.
func (h *holds) row(name []byte) (row StrictTag, ok bool) {
	if h == nil {
		return row, false
	}
	row, ok = (*h.tags.Load())[string(name)]
	return row, ok
}
