// Command rueidis draws ids through rueidis.
package main

import (
	"context"

	"redleaf/clienttest/report"

	"github.com/redis/rueidis"
)

func main() {
	ctx := context.Background()
	r := report.New(report.Version("github.com/redis/rueidis"))
	db, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{report.Addr()},
		Password:    report.Password(),
	})
	report.Check(err)
	defer db.Close()

	id, err := db.Do(ctx, db.B().Incr().Key(report.Own()).Build()).AsInt64()
	report.Check(err)
	report.ID(r, "own", id)
	last, err := db.Do(ctx, db.B().Incrby().Key(report.Own()).Increment(1000).Build()).AsInt64()
	report.Check(err)
	r.Block(last)
	text, err := db.Do(ctx, db.B().Get().Key(report.Snowflake()).Build()).ToString()
	report.Check(err)
	report.ID(r, "snowflake", text)

	pipeline(ctx, r, db)
	transaction(ctx, r, db)
	pop(ctx, r, db, "own", report.Own())
	pop(ctx, r, db, "snowflake", report.Snowflake())
	r.Refused(db.Do(ctx, db.B().Arbitrary("REDLEAFNOPE").Args("a").Build()).Error())

	r.Outage(func() (int64, error) {
		return db.Do(ctx, db.B().Incr().Key(report.Shared()).Build()).AsInt64()
	})
}

func pipeline(ctx context.Context, r *report.Report, db rueidis.Client) {
	commands := make(rueidis.Commands, 10000)
	for i := range commands {
		commands[i] = db.B().Incr().Key(report.Shared()).Build()
	}
	for _, reply := range db.DoMulti(ctx, commands...) {
		id, err := reply.AsInt64()
		report.Check(err)
		report.ID(r, "shared", id)
	}
}

func transaction(ctx context.Context, r *report.Report, db rueidis.Client) {
	commands := rueidis.Commands{db.B().Multi().Build()}
	for range 100 {
		commands = append(commands, db.B().Incr().Key(report.Own()).Build())
	}
	replies := db.DoMulti(ctx, append(commands, db.B().Exec().Build())...)
	ids, err := replies[len(replies)-1].AsIntSlice()
	report.Check(err)
	report.ID(r, "own", ids...)
}

func pop(ctx context.Context, r *report.Report, db rueidis.Client, kind, key string) {
	ids, err := db.Do(ctx, db.B().Lpop().Key(key).Count(1000).Build()).AsStrSlice()
	report.Check(err)
	report.ID(r, kind, ids...)
}
