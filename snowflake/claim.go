package snowflake

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// maxClock is the latest time, in Unix milliseconds, that a clock may say: in the year 2248, what fits a Duration.
const maxClock = 1 << 43

// patientRounds is how often a start waits for its fixed worker id while somebody else goes on extending it: as long as a
// process that is stopping may.
const patientRounds = 4

// claimRounds is how often rows are read anew when every try met somebody else's write. Each such failure is another
// node's success, so it ends long before.
const claimRounds = 100

// claimAtStart claims one worker id. A fixed one is waited for, unless somebody keeps it.
func (k *keeper) claimAtStart(ctx context.Context) error {
	for round := 1; ; round++ {
		freeIn, err := k.claim(ctx)
		if !k.n.cfg.Fixed || !errors.Is(err, ErrNoWorker) {
			return err
		}
		if round > patientRounds {
			return k.heldBySomebody(ctx, err)
		}
		k.n.cfg.Logger.Info("waiting until the worker id's last window has passed", "worker", k.n.cfg.MinWorker, "for", freeIn)
		await(ctx, freeIn, nil)
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for worker id %d: %w", k.n.cfg.MinWorker, context.Cause(ctx))
		}
	}
}

// heldBySomebody says who extends the fixed worker id.
func (k *keeper) heldBySomebody(ctx context.Context, err error) error {
	rows, readErr := k.workers(ctx)
	if readErr != nil || len(rows) == 0 {
		return err
	}
	return fmt.Errorf("%w: a live node at %s (%s) extends worker id %d", ErrNoWorker, rows[0].Addr, rows[0].Owner, rows[0].ID)
}

// claim leases one worker id. With ErrNoWorker it says after how long one may be free. The lowest free id is tried first,
// so that ids stay few and low; after a conflict a random one, so that nodes that start together part ways.
func (k *keeper) claim(ctx context.Context) (freeIn time.Duration, err error) {
	for round := range claimRounds {
		now, err := k.compareClocks(ctx)
		if err != nil {
			return 0, err
		}
		free, freeIn, err := k.freeWorkers(ctx, now)
		if err != nil {
			return 0, err
		}
		if len(free) == 0 {
			lo, hi := k.n.cfg.claimable()
			return freeIn, fmt.Errorf("%w from %d to %d; the next may be free in %v", ErrNoWorker, lo, hi, freeIn)
		}
		pick := 0
		if round > 0 {
			pick = rand.IntN(len(free))
		}
		if err := k.take(ctx, free[pick]); !errors.Is(err, ErrSwapped) {
			return 0, err
		}
	}
	return 0, fmt.Errorf("claiming a worker id: %w, %d times in a row", ErrSwapped, claimRounds)
}

// freeWorkers returns the rows that may be claimed: those whose mark lies before now on both clocks. An id without a row
// counts as marked just before now: timestamps further back may have been spoken for by a row that somebody deleted.
func (k *keeper) freeWorkers(ctx context.Context, now int64) (free []Worker, freeIn time.Duration, err error) {
	rows, err := k.workers(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("reading worker ids: %w", err)
	}
	lo, hi := k.n.cfg.claimable()
	freeAt := int64(-1)
	for id := lo; id <= hi; id++ {
		w := Worker{ID: id, Until: now - 1}
		if len(rows) > 0 && rows[0].ID == id {
			w, rows = rows[0], rows[1:]
			if w.Token == 0 { // a Guard's: it has no row either
				w.Until = max(w.Until, now-1)
			}
		}
		if w.Until < now {
			free = append(free, w)
		} else if freeAt < 0 || w.Until < freeAt {
			freeAt = w.Until
		}
	}
	return free, sinceEpoch(freeAt + 1 - now), nil
}

// workers reads the rows of the worker ids that may be claimed.
func (k *keeper) workers(ctx context.Context) (rows []Worker, err error) {
	lo, hi := k.n.cfg.claimable()
	err = k.call(ctx, func(ctx context.Context) (err error) {
		rows, err = k.n.store.Workers(ctx, lo, hi)
		return err
	})
	return rows, err
}

// take claims the worker id of a row as it was read, for a short window.
func (k *keeper) take(ctx context.Context, old Worker) error {
	now := k.n.now()
	row := k.row(old.ID, now+min(k.length(now), firstWindow).Milliseconds())
	if err := k.swap(ctx, old.Token, row); err != nil {
		k.doubt(err)
		return fmt.Errorf("claiming worker id %d: %w", old.ID, err)
	}
	k.leases = append(k.leases, lease{row: row, from: old.Until})
	k.n.change(func() {
		k.n.gen.add(window{worker: row.ID, from: old.Until, until: row.Until})
		k.n.state.claims++
	})
	k.n.cfg.Logger.Info("worker id claimed", "worker", row.ID, "until", utc(row.Until))
	return nil
}

// row returns the row to write for a worker id, with a token that nobody ever used.
func (k *keeper) row(id int, until int64) Worker {
	token := rand.Int64()
	for token == 0 {
		token = rand.Int64()
	}
	return Worker{ID: id, Token: token, Owner: k.n.cfg.Owner, Addr: k.n.cfg.Addr, Until: until}
}

func (k *keeper) swap(ctx context.Context, old int64, w Worker) error {
	return k.call(ctx, func(ctx context.Context) error { return k.n.store.Swap(ctx, old, w) })
}

// compareClocks reads the database's clock and returns the earlier of it and the node's time, in Unix milliseconds.
// ErrSkew: they are further apart than allowed, even if the reading is taken from any moment of the round trip.
func (k *keeper) compareClocks(ctx context.Context) (now int64, err error) {
	n := k.n
	before := n.now()
	var database int64
	err = k.call(ctx, func(ctx context.Context) (err error) {
		database, err = n.store.Now(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reading the database's clock: %w", err)
	}
	if database < 0 || database > maxClock {
		return 0, fmt.Errorf("%w: it says %d ms since 1970", ErrSkew, database)
	}
	// First the bound moves, then the clocks are compared: on a machine that was suspended, whose monotonic clock stood
	// still, the node's time may catch up only now.
	n.mu.Lock()
	n.time.anchor(database)
	after, _ := n.time.now()
	ahead := n.time.wall()-database > n.cfg.MaxSkew.Milliseconds()+(after-before)
	n.mu.Unlock()
	maxSkew := n.cfg.MaxSkew.Milliseconds()
	if before-database > maxSkew || database-after > maxSkew {
		n.change(func() { n.state.skewed++ })
		return 0, fmt.Errorf("%w by more than %v: it is %s here and %s there", ErrSkew, n.cfg.MaxSkew, utc(after), utc(database))
	}
	if ahead {
		n.change(func() { n.state.skewed++ })
		n.cfg.Logger.Warn("the wall clock is too far ahead of the database's; ids go on at the database's time and the skew allowed",
			"database", utc(database), "max-skew", n.cfg.MaxSkew)
	}
	return min(after, database), nil
}

// call gives one store call its deadline.
func (k *keeper) call(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, k.n.cfg.StatementTimeout)
	defer cancel()
	return f(ctx)
}
