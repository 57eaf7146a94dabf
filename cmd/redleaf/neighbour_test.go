package main

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"testing"
	"time"

	"redleaf/alloc/sqlstore/mariadbtest"
)

// leafRange is what Leaf reads after its UPDATE: it owns [maxID-step, maxID).
type leafRange struct{ maxID, step int64 }

// leafRefill plays Leaf's own statements: one transaction that adds the row's step and reads the row.
func leafRefill(ctx context.Context, db *sql.DB, tag string) (r leafRange, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return r, err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = ?", tag); err != nil {
		return r, err
	}
	row := tx.QueryRowContext(ctx, "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = ?", tag)
	if err := row.Scan(&r.maxID, &r.step); err != nil {
		return r, err
	}
	return r, tx.Commit()
}

// Leaf nodes refill from the same row while redleaf serves it: no id belongs to two.
func TestLeafNeighbour(t *testing.T) {
	const leafNodes, refills = 4, 300
	db := mariadbtest.Start(t)
	store := db.Database(t)
	leaf := db.Open(t, store)
	if _, err := leaf.Exec(leafTable); err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Exec("INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES ('orders', 1, 50, 'shared')"); err != nil {
		t.Fatal(err)
	}
	p := startProcess(t, "--store", store)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := newDrawer(0, p.addr)
	defer client.close()
	drawn, stopDrawing := make(chan []int64), make(chan struct{})
	go func() { drawn <- drawOrders(ctx, client, stopDrawing) }()

	var leafIDs []int64
	var mu sync.Mutex // protects leafIDs
	var refilling sync.WaitGroup
	for range leafNodes {
		refilling.Go(func() {
			for range refills {
				r, err := leafRefill(ctx, leaf, "orders")
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for id := r.maxID - r.step; id < r.maxID; id++ {
					leafIDs = append(leafIDs, id)
				}
				mu.Unlock()
			}
		})
	}
	refilling.Wait()
	close(stopDrawing)
	ours := <-drawn
	if len(ours) < 1000 {
		t.Errorf("redleaf served only %d ids", len(ours))
	}
	all := append(leafIDs, ours...)
	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			t.Fatalf("id %d belongs to two", all[i])
		}
	}
	t.Logf("%d ids from redleaf, %d from Leaf's statements, none twice", len(ours), len(leafIDs))
}

// drawOrders pipelines INCR segment:orders until told to stop.
func drawOrders(ctx context.Context, d *drawer, stop <-chan struct{}) (ids []int64) {
	for {
		select {
		case <-stop:
			return ids
		default:
		}
		pipe := d.client.Pipeline()
		for range pipelineDepth {
			pipe.Incr(ctx, "segment:orders")
		}
		cmds, _ := pipe.Exec(ctx)
		for _, cmd := range cmds {
			if id, ok := idOf(cmd); ok {
				ids = append(ids, id)
			}
		}
	}
}

// leafTable is the table as Leaf's own documentation creates it.
const leafTable = `CREATE TABLE leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '',
  max_id bigint(20) NOT NULL DEFAULT '1',
  step int(11) NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (biz_tag)
) ENGINE=InnoDB`
