// Command caching asks rueidis to cache the replies that are ids, in each way that it can. It prints every id that it is
// given, and what it was refused.
package main

import (
	"context"
	"time"

	"redleaf/clienttest/report"

	"github.com/redis/rueidis"
)

func main() {
	ctx := context.Background()
	db, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{report.Addr()}, Password: report.Password()})
	report.Check(err)
	defer db.Close()
	r := report.New(report.Version("github.com/redis/rueidis"))

	get := func() rueidis.Cacheable { return db.B().Get().Key(report.Snowflake()).Cache() }
	for range 3 {
		tell(r, db.DoCache(ctx, get(), time.Minute))
		for _, reply := range db.DoMultiCache(ctx, rueidis.CT(get(), time.Minute), rueidis.CT(get(), time.Minute)) {
			tell(r, reply)
		}
		mget := db.B().Mget().Key(report.Snowflake(), report.Snowflake()+"2").Cache()
		tell(r, db.DoCache(ctx, mget, time.Minute))
	}
	// The connection is still good for what is not cached.
	text, err := db.Do(ctx, db.B().Get().Key(report.Snowflake()).Build()).ToString()
	report.Check(err)
	report.ID(r, "snowflake", text)
	report.Check(r.Flush())
}

// tell prints the ids of a reply, or that it was refused.
func tell(r *report.Report, reply rueidis.RedisResult) {
	if err := reply.Error(); err != nil {
		r.Refused(err)
		return
	}
	if text, err := reply.ToString(); err == nil {
		report.ID(r, "snowflake", text)
		return
	}
	ids, err := reply.AsStrSlice()
	report.Check(err)
	report.ID(r, "snowflake", ids...)
}
