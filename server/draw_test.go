package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redleaf/alloc"
	"redleaf/snowflake"
)

func newClientFor(t testing.TB, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { c.Close() })
	return c
}

// The only client of a tag gets consecutive ids through a pipeline, whether or not it is a transaction.
func TestPipelineOfTenThousand(t *testing.T) {
	c := newClientFor(t, newTestServer(t).addr)
	want := int64(1)
	for _, pipe := range []redis.Pipeliner{c.Pipeline(), c.TxPipeline()} {
		for range 10_000 {
			pipe.Incr(t.Context(), "segment:orders")
		}
		cmds, err := pipe.Exec(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, cmd := range cmds {
			if got := cmd.(*redis.IntCmd).Val(); got != want {
				t.Fatalf("got %d, want %d", got, want)
			}
			want++
		}
	}
}

func TestIncrBySpansSegments(t *testing.T) {
	c := newClientFor(t, newTestServer(t).addr)
	last, err := c.IncrBy(t.Context(), "segment:orders", 5000).Result()
	if err != nil || last != 5000 {
		t.Fatalf("INCRBY 5000 = %d, %v", last, err)
	}
	next, err := c.Incr(t.Context(), "segment:orders").Result()
	if err != nil || next != 5001 {
		t.Fatalf("INCR = %d, %v", next, err)
	}
	if one, err := c.IncrBy(t.Context(), "segment:orders", 1).Result(); err != nil || one != 5002 {
		t.Fatalf("INCRBY 1 = %d, %v", one, err)
	}
}

func TestConcurrentIncrAndIncrByNeverOverlap(t *testing.T) {
	c := newClientFor(t, newTestServer(t).addr)
	var mu sync.Mutex
	var all []int64
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			var mine []int64
			for k := range int64(200) {
				n := 1 + (k*int64(i+1))%1700*(k%2)
				last, err := c.IncrBy(context.Background(), "segment:orders", n).Result()
				if err != nil {
					t.Error(err)
					return
				}
				for id := last - n + 1; id <= last; id++ {
					mine = append(mine, id)
				}
			}
			if !slices.IsSorted(mine) {
				t.Error("ids fell on one connection")
			}
			mu.Lock()
			all = append(all, mine...)
			mu.Unlock()
		})
	}
	clients.Wait()
	checkDistinct(t, all)
}

func checkDistinct(t *testing.T, ids []int64) {
	t.Helper()
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			t.Fatalf("id %d twice", ids[i])
		}
	}
}

func TestPopMany(t *testing.T) {
	c := newClientFor(t, newTestServer(t).addr)
	for _, key := range []string{"snowflake:t", "segment:t"} {
		for _, pop := range []func(context.Context, string, int) *redis.StringSliceCmd{c.LPopCount, c.RPopCount} {
			got, err := pop(t.Context(), key, 10_000).Result()
			if err != nil || len(got) != 10_000 {
				t.Fatalf("%s: %d ids, %v", key, len(got), err)
			}
			last := int64(0)
			for _, s := range got {
				id, err := strconv.ParseInt(s, 10, 64)
				if err != nil || id <= last {
					t.Fatalf("%s: %q after %d", key, s, last)
				}
				last = id
			}
		}
	}
	if got, err := c.LPop(t.Context(), "segment:one").Result(); err != nil || got != "1" {
		t.Errorf("LPOP = %q, %v", got, err)
	}
}

// What each command answers on keys of each kind.
func TestCommands(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.MaxBatch = 5000 })
	k := dial(t, "tcp", s.addr)
	ok, long := "+OK\r\n", strings.Repeat("x", 129)
	tests := []struct{ send, want string }{
		{"INCR segment:a", ":1\r\n"},
		{"incr segment:a{7}", ":2\r\n"},
		{"INCR orders", "-ERR keys are segment:<tag> or snowflake:<tag>\r\n"},
		{"INCR segment:", "-ERR keys are segment:<tag> or snowflake:<tag>\r\n"},
		{`INCR "segment:\x01"`, "-ERR invalid tag: it has a control character\r\n"},
		{`INCR "segment: a"`, "-ERR invalid tag: it starts or ends with a space\r\n"},
		{`INCR "segment:\xff"`, "-ERR invalid tag: it is not UTF-8\r\n"},
		{"INCR segment:" + long, "-ERR invalid tag: it has more than 128 characters\r\n"},
		{"GET snowflake:" + long, "-ERR invalid tag: it has more than 128 characters\r\n"},
		{`LPOP "snowflake:a\nb" 3`, "-ERR invalid tag: it has a control character\r\n"},
		{"INCR snowflake:a", "-ERR ids of this snowflake layout have more than 53 bits, which JavaScript clients round as integers: use GET or LPOP, or start redleaf with --bits js53\r\n"},
		{"INCRBY snowflake:a 5", "-ERR snowflake ids can't be reserved as a range: LPOP key 5 draws as many\r\n"},
		{"INCRBY segment:a 0", "-ERR value must be 1 or more: ids only move forward\r\n"},
		{"INCRBY segment:a -9223372036854775808", "-ERR value must be 1 or more: ids only move forward\r\n"},
		{"INCRBY segment:a 5001", "-ERR value is out of range, must be at most 5000 (--max-batch)\r\n"},
		{"INCRBY segment:a 9223372036854775807", "-ERR value is out of range, must be at most 5000 (--max-batch)\r\n"},
		{"LPOP segment:a 5001", "-ERR value is out of range, must be at most 5000 (--max-batch)\r\n"},
		{"LPOP segment:a 0", "*0\r\n"},
		{"LPOP orders", "-ERR keys are segment:<tag> or snowflake:<tag>\r\n"},
		{"LPOP orders 2", "-ERR keys are segment:<tag> or snowflake:<tag>\r\n"},
		{"LPOP segment:a 2", "*2\r\n$1\r\n3\r\n$1\r\n4\r\n"},
		{"GET segment:a", "-ERR GET does not draw from a segment: use INCR; HGET key last shows the last id\r\n"},
		{"HGET segment:a last", "$1\r\n4\r\n"},
		{"HGET segment:a nothing", "$-1\r\n"},
		{"HGET segment:none last", "$-1\r\n"},
		{"HGET snowflake:a last", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"},
		{"HGETALL segment:none", "*0\r\n"},
		{"SET segment:b 100", ok},
		{"INCR segment:b", ":101\r\n"},
		{"SET segment:b 5000", ok},
		{"INCR segment:b", ":5001\r\n"},
		{"SET segment:b 5000", "-ERR tag 'b' is already at 6000: ids only move forward\r\n"},
		{"SET segment:b -1", "-ERR value is out of range, must be 0 or more\r\n"},
		{"SET segment:b x", "-ERR value is not an integer or out of range\r\n"},
		{"SET segment:b 9223372036854775807", "-EXHAUSTED tag 'b': tag is at the end of its numbers\r\n"},
		{"SET segment:b 1 XX", "-ERR SET XX is not supported: a segment's tag only moves forward and never expires\r\n"},
		{"SET segment:b 1 ex 10", "-ERR SET EX is not supported: a segment's tag only moves forward and never expires\r\n"},
		{"SET segment:b 9000 NX", "$-1\r\n"},
		{"SET segment:new 41 nx", ok},
		{"INCR segment:new", ":42\r\n"},
		{"SET snowflake:a 1", "-ERR snowflake ids come from the clock and can't be set\r\n"},
		{"SET a 1", "-ERR keys are segment:<tag> or snowflake:<tag>\r\n"},
		{"HSET segment:b step 77 description hello", ":0\r\n"},
		{"HGET segment:b step", "$2\r\n77\r\n"},
		{"HGET segment:b description", "$5\r\nhello\r\n"},
		{"HSET segment:b step 0", "-ERR step must be 1 to 2147483647\r\n"},
		{"HSET segment:b step x", "-ERR value is not an integer or out of range\r\n"},
		{"HSET segment:b max_id 5", "-ERR field 'max_id' can't be set: step, description and strict can\r\n"},
		{"HSET segment:none step 5", "-NOTAG tag 'none' does not exist; SET segment:none 0 creates it\r\n"},
		{"HSET snowflake:a step 5", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"},
		{"EXISTS segment:a segment:none snowflake:x other segment:a", ":3\r\n"},
		{"TYPE segment:a", "+string\r\n"}, {"TYPE snowflake:x", "+string\r\n"}, {"TYPE segment:none", "+none\r\n"}, {"TYPE x", "+none\r\n"},
		{"TTL segment:a", ":-1\r\n"}, {"PTTL snowflake:x", ":-1\r\n"}, {"TTL segment:none", ":-2\r\n"}, {"TTL x", ":-2\r\n"},
		{"STRLEN segment:a", ":4\r\n"}, {"STRLEN snowflake:x", ":19\r\n"}, {"STRLEN segment:none", ":0\r\n"},
		{"DBSIZE", ":3\r\n"},
		{"KEYS segment:?", "*2\r\n$9\r\nsegment:a\r\n$9\r\nsegment:b\r\n"},
		{"DEL segment:b segment:none snowflake:x", ":1\r\n"},
		{"EXISTS segment:b", ":0\r\n"},
		{"DEL segment:a other", "-ERR keys are segment:<tag> or snowflake:<tag>\r\n"},
		{"EXISTS segment:a", ":1\r\n"},
		{"INCR segment:b", ":6001\r\n"}, // above where it was deleted
		{"MGET a segment:a", "*2\r\n$-1\r\n$-1\r\n"},
	}
	for _, tt := range tests {
		if got := k.do(tt.send); got != tt.want {
			t.Errorf("%.80s: got %q, want %q", tt.send, got, tt.want)
		}
	}
}

func TestSnowflakeReplies(t *testing.T) {
	k := dial(t, "tcp", newTestServer(t).addr)
	last := int64(0)
	for _, raw := range []string{"GET snowflake:a", "MGET snowflake:a x snowflake:b", "LPOP snowflake:a", "LPOP snowflake:a 3", "GET snowflake:c"} {
		reply := k.do(raw)
		for line := range strings.SplitSeq(reply, "\r\n") {
			if len(line) != 19 {
				continue
			}
			id, err := strconv.ParseInt(line, 10, 64)
			if err != nil || id <= last {
				t.Errorf("%s: %q after %d", raw, line, last)
			}
			last = id
		}
	}
	if last == 0 {
		t.Error("no ids seen")
	}
}

// A layout of at most 53 bits may answer with integers.
func TestJavaScriptLayout(t *testing.T) {
	s := newTestServer(t, func(c *Config) {
		layout, err := snowflake.ParseBits("js53", snowflake.DefaultEpoch)
		if err != nil {
			t.Fatal(err)
		}
		c.Snowflakes, err = snowflake.Start(t.Context(), snowflake.NewMemWindows(nowMs), snowflake.Config{Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Snowflakes.Close(context.Background()) })
	})
	c := newClientFor(t, s.addr)
	a, err := c.Incr(t.Context(), "snowflake:a").Result()
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.IncrBy(t.Context(), "snowflake:a", 1).Result()
	if err != nil || b <= a || b >= 1<<53 {
		t.Errorf("%d, %d, %v", a, b, err)
	}
}

func TestModesOff(t *testing.T) {
	segments := dial(t, "tcp", newTestServer(t, func(c *Config) { c.Snowflakes = nil }).addr)
	snowflakes := dial(t, "tcp", newTestServer(t, func(c *Config) { c.Segments = nil }).addr)
	off := func(mode string) string { return fmt.Sprintf("-ERR %s mode is off on this node (--modes)\r\n", mode) }
	for _, line := range []string{"GET snowflake:a", "LPOP snowflake:a", "LPOP snowflake:a 2", "INCR snowflake:a", "MGET snowflake:a"} {
		if got := segments.do(line); got != off("snowflake") {
			t.Errorf("%s: %q", line, got)
		}
	}
	for _, line := range []string{"INCR segment:a", "INCRBY segment:a 5", "LPOP segment:a 2", "SET segment:a 1", "HSET segment:a step 1", "HGETALL segment:a", "DEL segment:a"} {
		if got := snowflakes.do(line); got != off("segment") {
			t.Errorf("%s: %q", line, got)
		}
	}
	for line, want := range map[string]string{"DBSIZE": ":0\r\n", "KEYS *": "*0\r\n", "SCAN 0": "*2\r\n$1\r\n0\r\n*0\r\n", "EXISTS segment:a": ":0\r\n"} {
		if got := snowflakes.do(line); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// SCAN meets each of many tags once, a few at a time.
func TestScan(t *testing.T) {
	s := newTestServer(t)
	for i := range 1234 {
		if err := s.store.Create(t.Context(), fmt.Sprintf("tag%04d", i), 1000, 0); err != nil {
			t.Fatal(err)
		}
	}
	c := newClientFor(t, s.addr)
	seen := map[string]int{}
	for it := c.Scan(t.Context(), 0, "segment:*", 100).Iterator(); it.Next(t.Context()); {
		seen[it.Val()]++
	}
	if len(seen) != 1234 {
		t.Errorf("saw %d keys", len(seen))
	}
	for key, n := range seen {
		if n != 1 {
			t.Errorf("saw %s %d times", key, n)
		}
	}
	if got := dial(t, "tcp", s.addr).do("SCAN 999"); got != "-ERR invalid cursor\r\n" {
		t.Errorf("an unknown cursor gets %q", got)
	}
}

// failing is a store whose leases fail.
type failing struct {
	alloc.Store
	err error
}

func (f *failing) Lease(context.Context, string, int64) (alloc.Range, error) {
	return alloc.Range{}, f.err
}

// Each error of the allocator has its own first word, which tells clients whether to try again.
func TestErrorWords(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("connection refused"), "-TRYAGAIN no segment for tag 'a' within 300ms: leasing 1000 ids: connection refused\r\n"},
		{alloc.ErrExhausted, "-EXHAUSTED tag 'a': leasing 1000 ids: tag is at the end of its numbers\r\n"},
		{alloc.ErrNoTag, "-NOTAG tag 'a' does not exist; SET segment:a 0 creates it\r\n"},
	} {
		store := alloc.NewMemStore()
		if err := store.Create(t.Context(), "a", 1000, 0); err != nil {
			t.Fatal(err)
		}
		segments := alloc.New(&failing{store, tt.err}, alloc.Config{Wait: 300 * time.Millisecond})
		s := newTestServer(t, func(c *Config) { c.Segments = segments })
		k := dial(t, "tcp", s.addr)
		for _, line := range []string{"INCR segment:a", "INCRBY segment:a 1", "LPOP segment:a", "LPOP segment:a 5"} {
			if got := k.do(line); got != tt.want {
				t.Errorf("%s: got %q, want %q", line, got, tt.want)
			}
		}
		segments.Close(context.Background())
	}
	for err, want := range map[error]string{
		alloc.ErrWentBackwards:   "MISCONF store went backwards",
		alloc.ErrClosed:          "TRYAGAIN this node is stopping",
		snowflake.ErrUnavailable: "TRYAGAIN no worker window",
		snowflake.ErrExhausted:   "EXHAUSTED timestamp does not fit the layout",
		fmt.Errorf("advancing: %w", &alloc.FloorError{Tag: "x", Floor: 7}): "ERR tag 'x' is already at 7: ids only move forward",
		&tagError{"x", alloc.ErrTooManyTags}:                               "NOTAG tag 'x' does not exist, and no more are created by drawing (--max-tags); SET segment:x 0 creates it",
	} {
		if got := errorReply(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// One call of a pipeline that waits in vain is enough: the others don't wait after it.
func TestPipelineWaitsOnce(t *testing.T) {
	segments := alloc.New(&failing{alloc.NewMemStore(), errors.New("connection refused")}, alloc.Config{AutoCreate: true, Wait: 300 * time.Millisecond})
	defer segments.Close(context.Background())
	s := newTestServer(t, func(c *Config) { c.Segments = segments })
	k := dial(t, "tcp", s.addr)
	begin := time.Now()
	k.send(repeat(100, "INCR segment:a") + inlined("GET snowflake:a"))
	for range 100 {
		if got := k.reply(); !strings.HasPrefix(got, "-TRYAGAIN ") {
			t.Fatalf("got %q", got)
		}
	}
	if took := time.Since(begin); took > 100*300*time.Millisecond/2 {
		t.Errorf("100 draws of a store that is away took %v", took)
	}
	if got := k.reply(); !strings.HasPrefix(got, "$19\r\n") {
		t.Errorf("a draw that needs no store got %q", got)
	}
}
