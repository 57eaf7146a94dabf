package bench

import (
	"context"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// A goRedis sends through an ordinary client library: what a program gets, and what it pays. Its workers share a client, as
// a program's goroutines would.
type goRedis struct {
	client *redis.Client
	load   Load
	reqs   *requests
}

// newGoRedis returns the client that all workers share.
func newGoRedis(l Load) (*redis.Client, error) {
	db, err := strconv.Atoi("0" + l.Target.Database)
	if err != nil {
		return nil, errors.New("the database in a target's URL is a number")
	}
	return redis.NewClient(&redis.Options{
		Network:    l.Target.network(),
		Addr:       l.Target.Addr,
		Username:   l.Target.User,
		Password:   l.Target.Password,
		DB:         db,
		TLSConfig:  l.Target.TLS,
		PoolSize:   l.Connections,
		MaxRetries: -1, // a lost reply is an error here, not another request
	}), nil
}

func (g *goRedis) exchange(ctx context.Context, first int64, n int, w *worker) error {
	pipe := g.client.Pipeline()
	for i := range n {
		g.add(ctx, pipe, g.reqs.keys[g.reqs.key(first+int64(i))])
	}
	cmds, err := pipe.Exec(ctx)
	if _, ok := errors.AsType[redis.Error](err); err != nil && !ok {
		return err
	}
	var values, failures int64
	for i, cmd := range cmds {
		got, err := g.values(cmd, first+int64(i), w)
		values += got
		if err != nil {
			failures++
			w.fail(err.Error())
		}
	}
	w.arrived(int64(len(cmds)), values, failures)
	return nil
}

// add puts the load's request to a key into a pipeline.
func (g *goRedis) add(ctx context.Context, pipe redis.Pipeliner, key string) {
	switch g.load.Workload {
	case "incrby":
		pipe.IncrBy(ctx, key, int64(g.load.Count))
	case "get":
		pipe.Get(ctx, key)
	case "mget":
		pipe.MGet(ctx, g.load.command(key)[1:]...)
	case "lpop":
		pipe.LPopCount(ctx, key, g.load.Count)
	default:
		pipe.Incr(ctx, key)
	}
}

// values hands on the ids of one reply and returns how many they are.
func (g *goRedis) values(cmd redis.Cmder, reply int64, w *worker) (n int64, err error) {
	if err := cmd.Err(); err != nil {
		return 0, err
	}
	switch c := cmd.(type) {
	case *redis.IntCmd:
		return taken(w, reply, c.Val()), nil
	case *redis.StringCmd:
		return takenText(w, reply, c.Val())
	case *redis.StringSliceCmd:
		for _, text := range c.Val() {
			one, textErr := takenText(w, reply, text)
			n, err = n+one, errors.Join(err, textErr)
		}
	case *redis.SliceCmd:
		for _, value := range c.Val() {
			text, _ := value.(string) // nil for a nil
			one, textErr := takenText(w, reply, text)
			n, err = n+one, errors.Join(err, textErr)
		}
	}
	return n, err
}

func taken(w *worker, reply, id int64) int64 {
	if s := w.sink(); s != nil {
		s.take(reply, id)
	}
	return 1
}

func takenText(w *worker, reply int64, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, err
	}
	return taken(w, reply, id), nil
}

func (g *goRedis) interrupt() {} // calls end with their context
func (g *goRedis) close()     {}
