// Command goredis draws ids through go-redis.
package main

import (
	"context"

	"redleaf/clienttest/report"

	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	r := report.New(report.Version("github.com/redis/go-redis/v9"))
	db := redis.NewClient(&redis.Options{Addr: report.Addr(), Password: report.Password()})
	defer db.Close()

	id, err := db.Incr(ctx, report.Own()).Result()
	report.Check(err)
	report.ID(r, "own", id)
	last, err := db.IncrBy(ctx, report.Own(), 1000).Result()
	report.Check(err)
	r.Block(last)
	text, err := db.Get(ctx, report.Snowflake()).Result()
	report.Check(err)
	report.ID(r, "snowflake", text)

	many(ctx, r, db.Pipeline(), "shared", report.Shared(), 10000)
	many(ctx, r, db.TxPipeline(), "own", report.Own(), 100)
	pop(ctx, r, db, "own", report.Own())
	pop(ctx, r, db, "snowflake", report.Snowflake())
	r.Refused(db.Do(ctx, "REDLEAFNOPE", "a").Err())

	r.Outage(func() (int64, error) { return db.Incr(ctx, report.Shared()).Result() })
}

// many sends n INCR in one pipeline, with MULTI around it or without.
func many(ctx context.Context, r *report.Report, p redis.Pipeliner, kind, key string, n int) {
	for range n {
		p.Incr(ctx, key)
	}
	replies, err := p.Exec(ctx)
	report.Check(err)
	for _, reply := range replies {
		report.ID(r, kind, reply.(*redis.IntCmd).Val())
	}
}

func pop(ctx context.Context, r *report.Report, db *redis.Client, kind, key string) {
	ids, err := db.LPopCount(ctx, key, 1000).Result()
	report.Check(err)
	report.ID(r, kind, ids...)
}
