package server_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// rotation dials several nodes in turn, and the next when one does not answer: in plain mode any node is as good, and no
// balancer is needed.
type rotation struct {
	addrs []string
	turn  atomic.Uint64
}

func (r *rotation) dial(ctx context.Context, network, _ string) (conn net.Conn, err error) {
	dialer := net.Dialer{Timeout: time.Second}
	first := r.turn.Add(1)
	for i := range uint64(len(r.addrs)) {
		conn, err = dialer.DialContext(ctx, network, r.addrs[(first+i)%uint64(len(r.addrs))])
		if err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// A client that spreads its connections over three nodes by itself.
func Example_rotation() {
	nodes := &rotation{addrs: []string{"10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"}}
	db := redis.NewClient(&redis.Options{Dialer: nodes.dial, ConnMaxLifetime: 5 * time.Minute})
	defer db.Close()
	id, err := db.Incr(context.Background(), "segment:orders").Result()
	fmt.Println(id, err)
}
