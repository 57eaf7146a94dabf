// Command several draws ids from several nodes, with the client that the argument names.
package main

import (
	"context"
	"os"
	"time"

	"redleaf/clienttest/report"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

const (
	goredis = "github.com/redis/go-redis/v9"
	rueidi  = "github.com/redis/rueidis"
)

func main() {
	ctx := context.Background()
	switch os.Args[1] {
	case "goredis":
		cluster(ctx, &redis.ClusterOptions{Addrs: report.Addrs()})
	case "goredis-1s":
		cluster(ctx, &redis.ClusterOptions{Addrs: report.Addrs(), ClusterStateReloadInterval: time.Second})
	case "goredis-sentinel":
		db := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "ids", SentinelAddrs: report.Addrs()})
		report.New(report.Version(goredis)).Several(func(key string) (int64, error) { return db.Incr(ctx, key).Result() })
	case "goredis-plain":
		db := redis.NewClient(&redis.Options{Addr: report.Addrs()[0]})
		report.New(report.Version(goredis)).Several(func(key string) (int64, error) { return db.Incr(ctx, key).Result() })
	case "rueidis":
		db, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: report.Addrs()})
		report.Check(err)
		report.New(report.Version(rueidi)).Several(func(key string) (int64, error) {
			return db.Do(ctx, db.B().Incr().Key(key).Build()).AsInt64()
		})
	}
}

func cluster(ctx context.Context, options *redis.ClusterOptions) {
	db := redis.NewClusterClient(options)
	report.New(report.Version(goredis)).Several(func(key string) (int64, error) { return db.Incr(ctx, key).Result() })
}
