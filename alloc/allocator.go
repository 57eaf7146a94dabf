package alloc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// maxTrouble is how many tags whose last lease failed may have one under way. Rows that somebody holds locked keep a
// store's connection for as long as a statement may take: they must not take them all from the other tags.
const maxTrouble = 4

// Allocator hands out the ids of all tags of one store. Its methods are safe for concurrent use.
type Allocator struct {
	store Store
	cfg   Config
	wait  atomic.Int64 // nanoseconds: how long a call may wait; Config.Wait at first

	life    context.Context // store calls; ends when Close gives up waiting for them
	endLife context.CancelFunc
	quit    context.Context // pauses and periodic work; ends when Close begins
	endQuit context.CancelFunc
	work    sync.WaitGroup // every goroutine of the allocator
	tags    index          // in use
	holds   *holds         // nil: strict tags are not served; set before the first draw
	trouble chan struct{}  // holds a token for each lease under way of a tag whose last one failed

	mu       sync.RWMutex // protects everything below
	openings map[string]*opening
	refusals map[string]refusal // by name, of names that are not in use
	closed   bool
}

// New returns a running allocator; Close ends it.
func New(store Store, cfg Config) *Allocator {
	a := &Allocator{
		store: store, cfg: cfg.withDefaults(),
		trouble:  make(chan struct{}, maxTrouble),
		openings: map[string]*opening{}, refusals: map[string]refusal{},
	}
	a.wait.Store(int64(a.cfg.Wait))
	a.life, a.endLife = context.WithCancel(context.Background())
	a.quit, a.endQuit = context.WithCancel(a.life)
	a.work.Go(a.refresh)
	return a
}

// Wait returns how long a call may wait for a segment.
func (a *Allocator) Wait() time.Duration { return time.Duration(a.wait.Load()) }

// SetWait changes Config.Wait for calls that begin from now on.
func (a *Allocator) SetWait(d time.Duration) { a.wait.Store(int64(d)) }

// Take draws up to n ids (n >= 1) of the tag without waiting and returns the first and how many: they are consecutive.
// It returns 0 when none are at hand, for whatever reason; Draw then waits or says why. It does not allocate.
func (a *Allocator) Take(name []byte, n int64) (first, got int64) {
	if t := a.tags.get(name); t != nil {
		return t.take(n)
	}
	return 0, 0
}

// Draw draws n ids (1 to MaxBatch) of the tag, rising, and passes them to emit in runs of consecutive ids. It waits
// for the store until ctx is done, and at most Config.Wait. After an error, ids already emitted must not be used: they
// are lost, never issued again. Errors: ErrBatch, ErrBadTag, ErrNoTag, ErrTooManyTags, ErrCollation, ErrBadStep,
// ErrExhausted, ErrWentBackwards, ErrUnavailable, ErrClosed.
func (a *Allocator) Draw(ctx context.Context, name string, n int64, emit func(first, n int64)) error {
	return a.withTag(ctx, name, n, func(ctx context.Context, t *tag) error {
		for n > 0 {
			first, got := t.take(n)
			if got == 0 {
				if err := t.wait(ctx, n); err != nil {
					return err
				}
				continue
			}
			n -= got
			emit(first, got)
		}
		return nil
	})
}

// Reserve draws n consecutive ids (1 to MaxBatch) and returns the first. Ids that this node held for the tag and that
// do not reach n are dropped, so that order holds. Waiting and errors are Draw's.
func (a *Allocator) Reserve(ctx context.Context, name string, n int64) (first int64, err error) {
	err = a.withTag(ctx, name, n, func(ctx context.Context, t *tag) (err error) {
		first, err = t.reserveWaiting(ctx, n)
		return err
	})
	return first, err
}

// withTag runs draw on the tag under the deadline of one call. A tag that turns out to be deleted is looked up once
// more: where tags are created by drawing, it begins again above its old mark.
func (a *Allocator) withTag(ctx context.Context, name string, n int64, draw func(context.Context, *tag) error) error {
	if n < 1 || n > a.cfg.MaxBatch {
		return fmt.Errorf("%w: want 1 to %d", ErrBatch, a.cfg.MaxBatch)
	}
	ctx, cancel := context.WithTimeout(ctx, a.Wait())
	defer cancel()
	for again := false; ; again = true {
		t, err := a.open(ctx, name)
		if err != nil {
			return err
		}
		if err = draw(ctx, t); again || !errors.Is(err, ErrNoTag) {
			return err
		}
	}
}

// statement returns the context of one store call. It belongs to the allocator and not to a caller, so that one caller's
// early end does not leave others with a range whose fate is unknown.
func (a *Allocator) statement() (context.Context, context.CancelFunc) {
	return context.WithTimeout(a.life, a.cfg.StatementTimeout)
}

// lease asks the store for n ids. The caller holds the tag's loader.
func (a *Allocator) lease(name string, n int64) (Range, error) {
	ctx, cancel := a.statement()
	defer cancel()
	r, err := a.store.Lease(ctx, name, n)
	if err != nil {
		return Range{}, fmt.Errorf("leasing %d ids: %w", n, err)
	}
	if r.Len() != n {
		return Range{}, fmt.Errorf("leasing %d ids: the store granted [%d, %d)", n, r.First, r.End)
	}
	return r, nil
}
