package snowflake_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redleaf/snowflake"
)

// simulations is how many random schedules are played. A failure names its seed.
const simulations = 2000

var errLost = errors.New("connection lost")

// machine is what one node of the simulation runs on: a clock that drifts and steps, and a connection to the store that
// fails. All processes on it can be paused.
type machine struct {
	name  string
	world *world
	begun time.Time
	rate  float64 // of its clocks

	mu     sync.Mutex // protects everything below
	rng    *rand.Rand
	offset time.Duration // wall time less true time
	pause  time.Time     // nothing runs before
	dead   bool
	owned  map[int][][2]int64 // by worker id: windows that the store granted to it, (from, until]
}

func (m *machine) intn(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rng.IntN(n)
}

// clock is the machine's: drifting, and stepping when the schedule says so.
func (m *machine) clock() (int64, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	mono := time.Duration(float64(time.Since(m.begun)) * m.rate)
	return m.begun.Add(mono + m.offset).UnixMilli(), mono
}

// run waits while the machine is paused, and reports whether it is still alive.
func (m *machine) run() bool {
	for {
		m.mu.Lock()
		until, dead := m.pause, m.dead
		m.mu.Unlock()
		if d := time.Until(until); d > 0 && !dead {
			time.Sleep(d)
			continue
		}
		return !dead
	}
}

// disturb does one thing to the machine that its programs do not expect.
func (m *machine) disturb() {
	dice, ms := m.intn(4), time.Duration(m.intn(20_000))*time.Millisecond
	m.mu.Lock()
	defer m.mu.Unlock()
	switch dice {
	case 0:
		m.offset += ms - 10*time.Second
	case 1:
		m.offset += 100*ms - 1000*time.Second
	case 2:
		m.pause = time.Now().Add(ms)
	case 3:
		m.offset = 0
	}
}

// RecordLayout, Now, Workers and Swap make the machine a snowflake.Windows: the store as seen over its connection.
func (m *machine) RecordLayout(ctx context.Context, l snowflake.Layout) error {
	return m.world.store.RecordLayout(ctx, l)
}

func (m *machine) Now(ctx context.Context) (int64, error) {
	return call(m, ctx, m.world.store.Now)
}

func (m *machine) Workers(ctx context.Context, lo, hi int) ([]snowflake.Worker, error) {
	return call(m, ctx, func(ctx context.Context) ([]snowflake.Worker, error) { return m.world.store.Workers(ctx, lo, hi) })
}

// Swap also keeps the books: a window counts as owned when the store granted it and the node was told.
func (m *machine) Swap(ctx context.Context, old int64, w snowflake.Worker) error {
	from, err := call(m, ctx, func(ctx context.Context) (int64, error) { return m.world.swap(ctx, old, w) })
	if err == nil {
		m.mu.Lock()
		m.owned[w.ID] = append(m.owned[w.ID], [2]int64{from, w.Until})
		m.mu.Unlock()
	}
	return err
}

// call carries out one statement of a machine that may be paused before and after it.
func call[T any](m *machine, ctx context.Context, do func(context.Context) (T, error)) (reply T, err error) {
	if !m.run() {
		return reply, errLost
	}
	reply, err = send(m, ctx, do)
	if !m.run() {
		return reply, errLost
	}
	return reply, err
}

// send carries out one statement in whatever way the dice say.
func send[T any](m *machine, ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	var none T
	switch m.intn(10) {
	case 0: // it never arrives
		return none, errLost
	case 1: // it is carried out, and the reply is lost
		do(ctx)
		return none, errLost
	case 2: // it arrives when its caller may have given up
		return sendLate(ctx, time.Duration(m.intn(6000))*time.Millisecond, do)
	case 3: // the reply is slow
		reply, err := do(ctx)
		time.Sleep(time.Duration(m.intn(1500)) * time.Millisecond)
		return reply, err
	}
	return do(ctx)
}

func sendLate[T any](ctx context.Context, delay time.Duration, do func(context.Context) (T, error)) (T, error) {
	var none T
	answered := make(chan func() (T, error), 1)
	go func() {
		time.Sleep(delay)
		reply, err := do(context.WithoutCancel(ctx))
		answered <- func() (T, error) { return reply, err }
	}()
	select {
	case answer := <-answered:
		return answer()
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// world is the store and the ledger of every id, over all machines and lives.
type world struct {
	t     *testing.T
	store *snowflake.MemWindows

	mu  sync.Mutex // makes swap atomic; protects ids
	ids map[int64]string
}

// swap is the store's, and returns the row's mark before it.
func (w *world) swap(ctx context.Context, old int64, row snowflake.Worker) (from int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, err := w.store.Workers(context.Background(), row.ID, row.ID)
	if err != nil {
		return 0, err
	}
	if len(before) > 0 {
		from = before[0].Until
	}
	return from, w.store.Swap(ctx, old, row)
}

// issued enters ids into the ledger and checks that a window of the machine covers them.
func (w *world) issued(m *machine, layout snowflake.Layout, first, n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := first; id < first+n; id++ {
		if other, ok := w.ids[id]; ok {
			w.t.Errorf("id %d: drawn by %s and by %s", id, other, m.name)
		}
		w.ids[id] = m.name
	}
	parts, err := layout.Decode(first)
	if err != nil || !m.owns(parts.Worker, parts.Time.UnixMilli()) {
		w.t.Errorf("%s drew %+v outside its windows: %v", m.name, parts, err)
	}
}

func (m *machine) owns(worker int, ts int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.owned[worker] {
		if w[0] < ts && ts <= w[1] {
			return true
		}
	}
	return false
}

// life runs one node until its clients have made their calls; it ends by Close or by a crash.
func (m *machine) life(cfg snowflake.Config, layout snowflake.Layout) {
	m.mu.Lock()
	m.dead = false
	m.owned = map[int][][2]int64{}
	m.mu.Unlock()
	n, err := snowflake.Start(context.Background(), m, cfg)
	if err != nil {
		time.Sleep(time.Duration(m.intn(3000)) * time.Millisecond)
		return
	}
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() { m.client(n, layout) })
	}
	if m.intn(2) == 0 {
		time.Sleep(time.Duration(m.intn(30_000)) * time.Millisecond)
		m.mu.Lock()
		m.dead = true
		m.mu.Unlock()
	}
	clients.Wait()
	n.Close(context.Background())
}

func (m *machine) client(n *snowflake.Node, layout snowflake.Layout) {
	last := int64(0)
	note := func(first, got int64) {
		if first <= last {
			m.world.t.Errorf("%s: id %d after %d", m.name, first, last)
		}
		last = first + got - 1
		m.world.issued(m, layout, first, got)
	}
	for range 20 {
		if !m.run() {
			return
		}
		switch dice := m.intn(10); {
		case dice < 3:
			if first, got := n.Take(1 + int64(m.intn(20))); got > 0 {
				note(first, got)
			}
		case dice < 6:
			n.Draw(context.Background(), 1+int64(m.intn(60)), note)
		case dice < 7:
			m.disturb()
		default:
			time.Sleep(time.Duration(m.intn(6000)) * time.Millisecond)
		}
	}
}

// play plays one schedule and returns how many ids were drawn.
func play(t *testing.T, seed uint64) int {
	rng := rand.New(rand.NewPCG(seed, 1))
	layout := snowflake.Layout{Epoch: snowflake.DefaultEpoch, TimeBits: 41, WorkerBits: 2, SequenceBits: 3}
	w := &world{t: t, store: newStore(), ids: map[int64]string{}}
	var nodes sync.WaitGroup
	for i := range 1 + rng.IntN(3) {
		m := &machine{
			name: fmt.Sprintf("machine %d", i), world: w, begun: time.Now(), rate: 0.99 + 0.02*rng.Float64(),
			rng: rand.New(rand.NewPCG(seed, uint64(i)+2)), offset: time.Duration(rng.IntN(8000)-4000) * time.Millisecond,
		}
		cfg := snowflake.Config{
			Layout: layout, Workers: 1 + rng.IntN(2), Fixed: rng.IntN(8) == 0, MinWorker: rng.IntN(2), Claimable: 2 + rng.IntN(2),
			Window: time.Duration(2+rng.IntN(20)) * time.Second, Clock: m.clock,
		}
		lives := 1 + rng.IntN(4)
		nodes.Go(func() {
			for range lives {
				m.life(cfg, layout)
			}
		})
	}
	nodes.Wait()
	time.Sleep(20 * time.Second) // statements that were late
	return len(w.ids)
}

// Nodes that start, stop, crash and pause in the middle of a call, that lose the store and replies, and whose clocks
// drift and step: no id twice, none outside an owned window, and rising ids for every caller.
func TestSimulation(t *testing.T) {
	ids := 0
	for seed := range uint64(simulations) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)))
			ids += play(t, seed)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d ids in %d schedules", ids, simulations)
}
