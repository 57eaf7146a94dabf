package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Workloads returns the names of what can be sent.
func Workloads() []string { return []string{"incr", "incrby", "get", "mget", "lpop", "mixed"} }

// Clients.
const (
	ClientOwn     = "own"      // this package's
	ClientGoRedis = "go-redis" // an ordinary client library
)

// Limits that keep a load within the memory of one machine.
const (
	maxConnections = 60_000
	maxDepth       = 1 << 20
	maxBatchBytes  = 64 << 20
)

// defaultMixedTags is how many tags "mixed" takes in turn.
const defaultMixedTags = 10

// A Load is what is sent to a target, and for how long. Its zero values mean the defaults that fill names.
type Load struct {
	Target   Target
	Client   string // ClientOwn (default) or ClientGoRedis
	Workload string // one of Workloads; default incr

	// Key is the key, or what precedes the number where Tags is above 1. Default: snowflake:bench for get and mget, otherwise
	// segment:bench. Over HTTP what precedes its colon is left out.
	Key  string
	Tags int // keys taken in turn; default 1, of mixed 10
	// Count is incrby's increment and how many ids mget and lpop ask for in a request; default 100.
	Count int

	Connections int // default 8
	Depth       int // requests sent before their replies are awaited, on each connection; default 1

	Duration time.Duration // what is measured; default 5 s
	Warmup   time.Duration // load before that

	// Rate is the number of requests per second over all connections, sent when they are due, whatever the replies do; latency
	// then counts from when a request was due. 0: each connection sends as soon as it has its replies.
	Rate float64

	Pid      int       // of the server, for its CPU time; 0: not measured
	Verifier *Verifier // keeps every id; nil: ids are counted only
	Trace    bool      // keep a Sample of every request; they must be for one id each

	// Progress is called about five times a second; it may be nil.
	Progress func(Progress)
}

// A Progress is how far a run is.
type Progress struct {
	Elapsed, Total time.Duration // warm-up included
	IDsPerSecond   float64       // since the last call
}

// fill returns the load with its defaults.
func (l Load) fill() Load {
	setDefault(&l.Client, ClientOwn)
	setDefault(&l.Workload, "incr")
	setDefault(&l.Connections, 8)
	setDefault(&l.Depth, 1)
	setDefault(&l.Count, 100)
	setDefault(&l.Duration, 5*time.Second)
	if l.Workload == "mixed" {
		setDefault(&l.Tags, defaultMixedTags)
	}
	setDefault(&l.Tags, 1)
	if l.Workload == "get" || l.Workload == "mget" {
		setDefault(&l.Key, "snowflake:bench")
	}
	setDefault(&l.Key, "segment:bench")
	return l
}

func setDefault[T comparable](to *T, value T) {
	var zero T
	if *to == zero {
		*to = value
	}
}

// check returns everything that is wrong with a filled load.
func (l Load) check() error {
	errs := []error{
		upTo("connections", l.Connections, maxConnections),
		upTo("depth", l.Depth, maxDepth),
		upTo("tags", l.Tags, maxDepth),
		upTo("count", l.Count, maxDepth),
	}
	if !slices.Contains(Workloads(), l.Workload) {
		errs = append(errs, fmt.Errorf("workload %q: want one of %s", l.Workload, strings.Join(Workloads(), ", ")))
	}
	if l.Client != ClientOwn && l.Client != ClientGoRedis {
		errs = append(errs, fmt.Errorf("client %q: want %s or %s", l.Client, ClientOwn, ClientGoRedis))
	}
	if l.Duration <= 0 || l.Warmup < 0 || l.Rate < 0 {
		errs = append(errs, errors.New("duration must be above 0, warm-up and rate not below it"))
	}
	if l.Target.isHTTP() && (l.Depth > 1 || l.Client != ClientOwn) {
		errs = append(errs, errors.New("over HTTP the depth is 1 and the client our own"))
	}
	return errors.Join(errs...)
}

func upTo(what string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s %d: want 1 to %d", what, n, most)
	}
	return nil
}

// keys returns the keys that are taken in turn.
func (l Load) keys() []string {
	if l.Tags == 1 {
		return []string{l.Key}
	}
	keys := make([]string, l.Tags)
	for i := range keys {
		keys[i] = fmt.Sprint(l.Key, i)
	}
	return keys
}

// each is the number of ids that one integer or string of a reply stands for.
func (l Load) each() int64 {
	if l.Workload == "incrby" {
		return int64(l.Count)
	}
	return 1
}
