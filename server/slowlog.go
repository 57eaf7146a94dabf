package server

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a slow log's entry, as in Redis.
const (
	slowArgs     = 32
	slowArgBytes = 128
)

// alwaysTimed is the threshold below which every command is timed by itself: timing costs more than a draw. Above it,
// only commands that may wait for the store are; others can't take so long.
const alwaysTimed = time.Millisecond

// slowlog keeps the latest slow commands. Safe for concurrent use.
type slowlog struct {
	threshold atomic.Int64 // nanoseconds; negative: nothing is logged
	limit     atomic.Int64 // entries kept

	mu      sync.Mutex // protects everything below
	nextID  int64
	entries []slowEntry // the latest last
}

type slowEntry struct {
	id         int64
	at         time.Time
	took       time.Duration
	args       []string
	addr, name string
}

// record logs the command if it was slow.
func (l *slowlog) record(c *client, args [][]byte, took time.Duration) {
	threshold := l.threshold.Load()
	if threshold < 0 || int64(took) < threshold {
		return
	}
	e := slowEntry{at: time.Now(), took: took, args: slowEntryArgs(args), addr: c.conn.RemoteAddr().String(), name: c.name}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.id = l.nextID
	l.nextID++
	l.entries = append(l.entries, e)
	l.trim()
}

func (l *slowlog) trim() {
	if over := len(l.entries) - int(l.limit.Load()); over > 0 {
		l.entries = append(l.entries[:0], l.entries[over:]...)
	}
}

// slowEntryArgs copies what is shown of a request. Passwords are not.
func slowEntryArgs(args [][]byte) (shown []string) {
	for i, arg := range args {
		if i == slowArgs-1 && len(args) > slowArgs {
			return append(shown, fmt.Sprintf("... (%d more arguments)", len(args)-i))
		}
		if len(arg) > slowArgBytes {
			shown = append(shown, fmt.Sprintf("%s... (%d more bytes)", arg[:slowArgBytes], len(arg)-slowArgBytes))
			continue
		}
		shown = append(shown, string(arg))
	}
	if name := strings.ToUpper(shown[0]); name == "AUTH" || name == "HELLO" {
		for i := 1; i < len(shown); i++ {
			shown[i] = "(redacted)"
		}
	}
	return shown
}

// latest returns up to n entries, the latest first.
func (l *slowlog) latest(n int) (entries []slowEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
	for i := len(l.entries) - 1; i >= 0 && len(entries) < n; i-- {
		entries = append(entries, l.entries[i])
	}
	return entries
}

func (l *slowlog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

// slowlogCmd is SLOWLOG GET [count] | LEN | RESET.
func (c *client) slowlogCmd(args [][]byte) error {
	log := &c.s.slow
	sub := strings.ToUpper(string(args[1]))
	switch {
	case sub == "GET" && len(args) <= 3:
		return c.slowlogGet(args[2:])
	case sub == "LEN" && len(args) == 2:
		c.int(int64(len(log.latest(int(log.limit.Load())))))
	case sub == "RESET" && len(args) == 2:
		log.reset()
		c.status("OK")
	case sub == "HELP" && len(args) == 2:
		c.help("SLOWLOG", "GET [<count>]", "LEN", "RESET")
	case sub == "GET":
		return subcommandSyntax("SLOWLOG", args[1])
	case sub == "LEN", sub == "RESET", sub == "HELP":
		return wrongArity("slowlog|" + strings.ToLower(sub))
	default:
		return unknownSubcommand("SLOWLOG", args[1])
	}
	return nil
}

func (c *client) slowlogGet(args [][]byte) error {
	count := int64(10)
	if len(args) > 0 {
		n, err := parseInt(args[0])
		if err != nil || n < -1 {
			return replyError("ERR count should be greater than or equal to -1")
		}
		if count = n; n == -1 {
			count = c.s.slow.limit.Load()
		}
	}
	entries := c.s.slow.latest(int(count))
	c.array(len(entries))
	for _, e := range entries {
		c.array(6)
		c.int(e.id)
		c.int(e.at.Unix())
		c.int(e.took.Microseconds())
		c.array(len(e.args))
		for _, arg := range e.args {
			c.bulk(arg)
		}
		c.bulk(e.addr)
		c.bulk(e.name)
	}
	return nil
}

// micros formats a duration as Redis's settings have it.
func micros(ns int64) string {
	if ns < 0 {
		return "-1"
	}
	return strconv.FormatInt(ns/1000, 10)
}
