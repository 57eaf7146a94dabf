package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"redleaf/alloc"
	"redleaf/snowflake"
)

// defaultWorkerIDs is the whole of the default layout; with a narrower layout it means all of that.
const defaultWorkerIDs = "0-1023"

// maxMaxBatch bounds --max-batch: a reply of that many ids is held in memory.
const maxMaxBatch = 10_000_000

// minWindow leaves time to extend a window before it ends.
const minWindow = 2 * time.Second

// maxWindow bounds for how long a crash can strand a worker id.
const maxWindow = 24 * time.Hour

type serveCmd struct {
	listenFlags
	httpFlags
	clusterFlags
	Modes    []string `default:"segment,snowflake" placeholder:"MODE" help:"What this node serves (default: ${default})."`
	BareKeys bool     `help:"A key without a prefix is a segment's tag, so that programs which INCR keys of their own change nothing."`

	Requirepass   string `placeholder:"PASSWORD" help:"Password that clients must give with AUTH."`
	ACLFile       string `name:"acl-file" placeholder:"FILE" help:"Users, in the syntax of Redis's ACL files; @draw are the commands that draw ids, @admin those that administer."`
	ProtectedMode bool   `default:"true" negatable:"" help:"Where no password is needed serve loopback clients only, as Redis does. Off, all may draw; administering (SET, HSET, DEL, CONFIG SET ...) stays loopback-only."`

	MaxClients   int           `default:"10000" placeholder:"N" help:"Connections at a time (default: ${default})."`
	IdleTimeout  time.Duration `default:"0" placeholder:"TIME" help:"Close connections without requests after it; 0 never (default: ${default})."`
	WriteTimeout time.Duration `default:"10s" placeholder:"TIME" help:"Close connections that do not accept 256 KiB of replies within it (default: ${default})."`
	MaxRequest   int           `default:"1048576" placeholder:"BYTES" help:"Largest request (default: ${default})."`
	MaxOutput    int64         `default:"67108864" placeholder:"BYTES" help:"Largest reply (default: ${default})."`

	storeFlags
	failoverFlags
	Init bool `help:"Create the SQLite file when it does not exist."`

	AutoCreate      *bool         `negatable:"" help:"Create an unknown tag by its first INCR (default: on for SQLite, off for MySQL)."`
	Step            int64         `default:"1000" placeholder:"N" help:"Step of a tag created so (default: ${default})."`
	MaxStep         int64         `default:"1000000" placeholder:"N" help:"Cap of the step rule (default: ${default})."`
	MaxTags         int64         `default:"100000" placeholder:"N" help:"Bound of automatic creation (default: ${default})."`
	MaxBatch        int64         `default:"1000000" placeholder:"N" help:"Largest count of INCRBY and LPOP (default: ${default})."`
	Wait            time.Duration `default:"1s" placeholder:"TIME" help:"How long a call may wait for ids (default: ${default})."`
	SegmentDuration time.Duration `default:"15m" placeholder:"TIME" help:"How long a segment should last: the step rule's target (default: ${default})."`

	layoutFlags
	Workers   int           `default:"1" placeholder:"N" help:"Worker ids leased by this node; each adds a sequence's worth of ids per millisecond (default: ${default})."`
	WorkerIDs string        `name:"worker-ids" default:"0-1023" placeholder:"LO-HI" help:"Worker ids this node may claim; keep out of live Leaf nodes' (default: ${default})."`
	WorkerID  *int          `name:"worker-id" placeholder:"N" help:"Claim this worker id and no other; nodes with separate stores need distinct ones."`
	Window    time.Duration `default:"10m" placeholder:"TIME" help:"Length of a worker window, at least 2s (default: ${default})."`
	MaxSkew   time.Duration `default:"5s" placeholder:"TIME" help:"Refuse to start when the database's clock is further away (default: ${default})."`

	ShutdownTimeout time.Duration `default:"10s" placeholder:"TIME" help:"Longest time to stop in (default: ${default})."`
	LogLevel        string        `default:"info" enum:"debug,info,warn,error" placeholder:"LEVEL" help:"Least level logged: debug, info, warn, error (default: ${default})."`
	LogFormat       string        `default:"text" enum:"text,json" placeholder:"FORMAT" help:"text or json (default: ${default})."`
}

// check validates what the flag parser can't, and returns everything that is wrong.
func (c *serveCmd) check() error {
	return errors.Join(
		c.listenFlags.check(),
		c.httpFlags.check(),
		c.clusterFlags.check(c.listenFlags),
		c.checkModes(),
		c.storeFlags.check(),
		c.failoverFlags.check(),
		upTo("--step", c.Step, alloc.MaxStep),
		upTo("--max-step", c.MaxStep, alloc.MaxStep),
		upTo("--max-tags", c.MaxTags, 1<<40),
		upTo("--max-batch", c.MaxBatch, maxMaxBatch),
		upTo("--max-clients", int64(c.MaxClients), 1_000_000),
		upTo("--max-request", int64(c.MaxRequest), 512<<20),
		upTo("--max-output", c.MaxOutput, 1<<40),
		atLeast("--idle-timeout", c.IdleTimeout, 0),
		atLeast("--write-timeout", c.WriteTimeout, time.Millisecond),
		atLeast("--wait", c.Wait, time.Millisecond),
		atLeast("--segment-duration", c.SegmentDuration, time.Second),
		atLeast("--window", c.Window, minWindow),
		atMost("--window", c.Window, maxWindow),
		atLeast("--max-skew", c.MaxSkew, time.Millisecond),
		atLeast("--shutdown-timeout", c.ShutdownTimeout, time.Millisecond),
		c.checkWorkers(),
	)
}

func (c *serveCmd) checkModes() error {
	for _, m := range c.Modes {
		if m != "segment" && m != "snowflake" {
			return fmt.Errorf("--modes %q: want segment, snowflake, or both with a comma", m)
		}
	}
	if len(c.Modes) == 0 {
		return errors.New("--modes: want segment, snowflake, or both with a comma")
	}
	return nil
}

func (c *serveCmd) serves(mode string) bool { return slices.Contains(c.Modes, mode) }

func (c *serveCmd) checkWorkers() error {
	layout, err := c.layout()
	if err != nil {
		return err
	}
	lo, hi, err := c.workerIDs(layout)
	if err != nil {
		return err
	}
	if c.Workers < 1 || c.Workers > hi-lo+1 {
		return fmt.Errorf("--workers %d: want 1 to %d, the number of worker ids this node may claim", c.Workers, hi-lo+1)
	}
	return nil
}

// workerIDs returns the bounds of what this node may claim.
func (c *serveCmd) workerIDs(l snowflake.Layout) (lo, hi int, err error) {
	if c.WorkerID != nil {
		if c.WorkerIDs != defaultWorkerIDs {
			return 0, 0, errors.New("--worker-id and --worker-ids: give one of them")
		}
		if *c.WorkerID < 0 || *c.WorkerID > l.MaxWorker() {
			return 0, 0, fmt.Errorf("--worker-id %d: want 0 to %d with --bits %s", *c.WorkerID, l.MaxWorker(), l.Bits())
		}
		return *c.WorkerID, *c.WorkerID, nil
	}
	if c.WorkerIDs == defaultWorkerIDs {
		return 0, min(1023, l.MaxWorker()), nil
	}
	from, to, isRange := strings.Cut(c.WorkerIDs, "-")
	if !isRange {
		to = from
	}
	lo, err = strconv.Atoi(from)
	if err == nil {
		hi, err = strconv.Atoi(to)
	}
	if err != nil || lo < 0 || hi < lo {
		return 0, 0, fmt.Errorf("--worker-ids %q: want two numbers, lowest-highest", c.WorkerIDs)
	}
	if hi > l.MaxWorker() {
		return 0, 0, fmt.Errorf("--worker-ids %s: --bits %s has worker ids 0 to %d", c.WorkerIDs, l.Bits(), l.MaxWorker())
	}
	return lo, hi, nil
}

// creates says whether drawing creates unknown tags: where a mistyped tag would start at 1 beside a live table, it
// must be asked for.
func (c *serveCmd) creates() bool {
	if c.AutoCreate != nil {
		return *c.AutoCreate
	}
	return c.isSQLite()
}

// logger returns the log and its level, which can be changed later.
func (c *serveCmd) logger(to *streams) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	_ = level.UnmarshalText([]byte(c.LogLevel)) // the flag's enum admits only levels
	opts := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(to.err, opts)), level
	}
	return slog.New(slog.NewTextHandler(to.err, opts)), level
}

// checkAddr checks an address that is given.
func checkAddr(flag, addr string) error {
	if addr == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%s %q: want HOST:PORT, with a port of 0 to 65535", flag, addr)
	}
	return nil
}

func upTo(flag string, n, most int64) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s %d: want 1 to %d", flag, n, most)
	}
	return nil
}

func atLeast(flag string, d, lo time.Duration) error {
	if d < lo {
		return fmt.Errorf("%s %v: want %v or more", flag, d, lo)
	}
	return nil
}

func atMost(flag string, d, hi time.Duration) error {
	if d > hi {
		return fmt.Errorf("%s %v: want %v or less", flag, d, hi)
	}
	return nil
}
