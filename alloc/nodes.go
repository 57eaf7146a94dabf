package alloc

import (
	"context"
	"time"
)

// Node is a redleaf process as the others see it. Nothing about uniqueness depends on it.
type Node struct {
	ID       string // fresh at each start
	Addr     string // RESP address told to clients, host:port
	HTTPAddr string // "" without HTTP
	Version  string
	Started  time.Time
	Seen     time.Time // last heartbeat, by the database's clock
	Live     bool      // seen within NodeTimeout, by the database's clock
}

// NodeTimeout is how long after its last heartbeat a node counts as dead.
const NodeTimeout = 3 * time.Second

// Nodes keeps the heartbeats of the processes that share a store (table leaf_node).
type Nodes interface {
	// Beat records that the node is alive, by the database's clock. Now and then it removes rows unseen for a day.
	Beat(ctx context.Context, n Node) error
	// Nodes lists the nodes of the last day, live ones first, then by address and id.
	Nodes(ctx context.Context) ([]Node, error)
	// Digest returns a text that is another when Nodes would list other nodes, or another of them as live; heartbeats alone
	// don't change it. Two different lists have the same digest once in 2^32. However many nodes there are, it is short: n
	// nodes that each read the whole list once a second would have the database send n^2 rows.
	Digest(ctx context.Context) (string, error)
	// Leave removes the node's row.
	Leave(ctx context.Context, id string) error
}
