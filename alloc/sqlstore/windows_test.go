package sqlstore

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redleaf/alloc"
	"redleaf/alloc/sqlstore/mariadbtest"
	"redleaf/snowflake"
)

// forEachDatabase runs a test on two handles of a new store of each kind.
func forEachDatabase(t *testing.T, test func(t *testing.T, s, other *Store)) {
	t.Run("sqlite", func(t *testing.T) {
		url := "sqlite:" + filepath.Join(t.TempDir(), "redleaf.db")
		test(t, openStore(t, url), openStore(t, url))
	})
	t.Run("mariadb", func(t *testing.T) {
		url := mariadbtest.Start(t).Database(t)
		test(t, openStore(t, url), openStore(t, url))
	})
}

func TestWorkers(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, s, other *Store) {
		a := snowflake.Worker{ID: 5, Token: -1 << 63, Owner: "a", Addr: "[::1]:6379", Until: 1<<53 + 1}
		b := snowflake.Worker{ID: 5, Token: 1<<63 - 1, Owner: "b", Addr: "b:1", Until: 7}
		for _, step := range []struct {
			store *Store
			old   int64
			w     snowflake.Worker
			want  error
			then  snowflake.Worker
		}{
			{s, 0, a, nil, a}, {other, 0, b, snowflake.ErrSwapped, a}, {other, 3, b, snowflake.ErrSwapped, a}, {s, a.Token, a, nil, a},
			{other, a.Token, b, nil, b}, {s, a.Token, a, snowflake.ErrSwapped, b},
			{s, 9, snowflake.Worker{ID: 6, Token: 1}, snowflake.ErrSwapped, b}, // no such row
		} {
			if err := step.store.Swap(t.Context(), step.old, step.w); !errors.Is(err, step.want) {
				t.Errorf("swap of %d for %+v: %v, want %v", step.old, step.w, err, step.want)
			}
			if got, err := s.Workers(t.Context(), 0, 1023); err != nil || len(got) != 1 || got[0] != step.then {
				t.Fatalf("workers %v, %v: want %v", got, err, step.then)
			}
		}
		if err := s.Swap(t.Context(), 0, snowflake.Worker{ID: 7}); err == nil || errors.Is(err, snowflake.ErrSwapped) {
			t.Errorf("swap to token 0: %v", err)
		}
		if got, err := s.Workers(t.Context(), 6, 1023); err != nil || len(got) != 0 {
			t.Errorf("workers from 6: %v, %v", got, err)
		}
	})
}

// Of many that claim one worker at once, one gets it.
func TestConcurrentSwap(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, s, other *Store) {
		old := int64(0)
		for range 5 {
			var won atomic.Int64
			var wins atomic.Int32
			var claiming sync.WaitGroup
			for i := range 16 {
				claiming.Go(func() {
					w := snowflake.Worker{ID: 1, Token: old + int64(i) + 1}
					err := []*Store{s, other}[i%2].Swap(t.Context(), old, w)
					if err == nil {
						won.Store(w.Token)
						wins.Add(1)
					} else if !errors.Is(err, snowflake.ErrSwapped) {
						t.Error(err)
					}
				})
			}
			claiming.Wait()
			if wins.Load() != 1 {
				t.Fatalf("%d won", wins.Load())
			}
			old = won.Load()
		}
	})
}

func TestRecordLayout(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, s, other *Store) {
		ours := snowflake.DefaultLayout()
		theirs := ours
		theirs.Epoch++
		for range 2 {
			if err := errors.Join(s.RecordLayout(t.Context(), ours), other.RecordLayout(t.Context(), ours)); err != nil {
				t.Fatal(err)
			}
		}
		err := other.RecordLayout(t.Context(), theirs)
		if !errors.Is(err, snowflake.ErrLayout) || !strings.Contains(err.Error(), "1288834974657") || !strings.Contains(err.Error(), "1288834974658") {
			t.Errorf("another layout: %v", err)
		}
	})
}

func TestNow(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, s, _ *Store) {
		for range 50 {
			now, err := s.Now(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if off := time.Since(time.UnixMilli(now)).Abs(); off > 5*time.Second {
				t.Fatalf("%v off", off)
			}
		}
	})
}

func TestNodes(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, s, other *Store) {
		digests := map[string]bool{}
		digest := func(now string) {
			d, err := other.Digest(t.Context())
			again, err2 := s.Digest(t.Context())
			if err != nil || err2 != nil || d != again || digests[d] {
				t.Errorf("%s: digest %q, %v, then %q, %v; before %v", now, d, err, again, err2, digests)
			}
			digests[d] = true
		}
		digest("no nodes")
		b := alloc.Node{ID: "b", Addr: "host:2", HTTPAddr: "host:80", Version: "v1", Started: time.Now().Add(-time.Hour)}
		a := alloc.Node{ID: "a", Addr: "host:1", Version: "v1"}
		for _, n := range []alloc.Node{b, a, b, {ID: "dead", Addr: "host:0"}, {ID: "old", Addr: "host:0"}} {
			if err := s.Beat(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		digest("five nodes")
		mustExec(t, s.db, "UPDATE leaf_node SET seen_ms = seen_ms - 3600000 WHERE id = 'dead'")
		digest("one is dead")
		mustExec(t, s.db, "UPDATE leaf_node SET seen_ms = seen_ms - 90000000 WHERE id = 'old'")
		digest("one is forgotten")
		nodes, err := other.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(nodes) != 3 || nodes[0].ID != "a" || nodes[1].ID != "b" || nodes[2].ID != "dead" ||
			!nodes[0].Live || !nodes[1].Live || nodes[2].Live {
			t.Fatalf("nodes %+v", nodes)
		}
		if got := nodes[1]; got.Addr != b.Addr || got.HTTPAddr != b.HTTPAddr || got.Version != b.Version ||
			got.Started.Sub(b.Started).Abs() > 5*time.Second || time.Since(got.Seen).Abs() > 5*time.Second {
			t.Errorf("node %+v, want %+v", got, b)
		}
		if err := errors.Join(other.Leave(t.Context(), "b"), other.Leave(t.Context(), "none"), other.Beat(t.Context(), a)); err != nil {
			t.Fatal(err)
		}
		digest("one has left")
		before, err := s.Digest(t.Context())
		err = errors.Join(err, s.Beat(t.Context(), a))
		if after, err2 := other.Digest(t.Context()); errors.Join(err, err2) != nil || after != before {
			t.Errorf("a heartbeat changed the digest from %q to %q, %v", before, after, err)
		}
		if n := queryInt(t, s.db, "SELECT COUNT(*) FROM leaf_node"); n != 2 {
			t.Errorf("%d rows, want those of a and dead", n)
		}
	})
}

// Nodes that die between two looks change the digest, however many and however alike their names.
func TestDigestOfSeveralDead(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, s, _ *Store) {
		for _, id := range []string{"a", "b", "c", "d"} {
			if err := s.Beat(t.Context(), alloc.Node{ID: id, Addr: "127.0.0.1:7000", Version: "v1"}); err != nil {
				t.Fatal(err)
			}
		}
		mustExec(t, s.db, "UPDATE leaf_node SET seen_ms = seen_ms + 3600000")
		for _, dead := range []string{"'a'", "'a', 'b'", "'a', 'b', 'c'", "'a', 'b', 'c', 'd'"} {
			before, err := s.Digest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			mustExec(t, s.db, "UPDATE leaf_node SET seen_ms = seen_ms - 10800000 WHERE id IN ("+dead+")")
			if after, err := s.Digest(t.Context()); err != nil || after == before {
				t.Errorf("%s died: digest %q, before %q, %v", dead, after, before, err)
			}
			mustExec(t, s.db, "UPDATE leaf_node SET seen_ms = seen_ms + 10800000 WHERE id IN ("+dead+")")
		}
	})
}
