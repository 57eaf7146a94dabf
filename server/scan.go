package server

import (
	"strconv"
	"strings"
	"sync"
)

const (
	scanCount  = 10     // rows a SCAN reads unless told
	maxScan    = 10_000 // rows it reads at most
	maxCursors = 10_000 // cursors remembered; the oldest are forgotten first
)

// cursors remembers where scans stopped: a cursor is a number, and the store goes on from a tag. Safe for concurrent use.
type cursors struct {
	mu     sync.Mutex // protects everything below
	last   uint64
	after  map[uint64]string
	oldest uint64
}

// put returns a cursor that stands for the tag.
func (s *cursors) put(after string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.after == nil {
		s.after, s.oldest = map[uint64]string{}, 1
	}
	s.last++
	s.after[s.last] = after
	for s.last-s.oldest >= maxCursors {
		delete(s.after, s.oldest)
		s.oldest++
	}
	return s.last
}

func (s *cursors) get(cursor uint64) (after string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	after, ok = s.after[cursor]
	return after, ok
}

// scanOptions are what follows SCAN cursor.
type scanOptions struct {
	pattern string
	count   int
	none    bool // another TYPE than ours was asked for
}

// scan is SCAN cursor [MATCH pattern] [COUNT n] [TYPE t], over segment tags.
func (c *client) scan(args [][]byte) error {
	cursor, err := strconv.ParseUint(string(args[1]), 10, 64)
	if err != nil {
		return errCursor
	}
	o, err := parseScan(args[2:])
	if err != nil {
		return err
	}
	after := ""
	if cursor != 0 {
		var ok bool
		if after, ok = c.s.cursors.get(cursor); !ok {
			return errCursor
		}
	}
	return c.scanFrom(after, o)
}

func (c *client) scanFrom(after string, o scanOptions) error {
	next := uint64(0)
	var found []string
	if c.s.cfg.Segments != nil && !o.none {
		rows, err := c.s.cfg.Segments.List(c.patience(), after, o.count)
		if err != nil {
			return c.drawn(nil, err)
		}
		found = c.s.appendMatches(nil, rows, o.pattern)
		if len(rows) == o.count {
			next = c.s.cursors.put(rows[len(rows)-1].Tag)
		}
	}
	c.array(2)
	c.bulk(strconv.FormatUint(next, 10))
	c.listKeys(found)
	return nil
}

func parseScan(args [][]byte) (o scanOptions, err error) {
	o.count = scanCount
	if len(args)%2 != 0 {
		return o, errSyntax
	}
	for i := 0; i < len(args); i += 2 {
		switch value := args[i+1]; strings.ToUpper(string(args[i])) {
		case "MATCH":
			o.pattern = string(value)
		case "COUNT":
			n, err := parseInt(value)
			if err != nil {
				return o, err
			}
			if n < 1 {
				return o, errSyntax
			}
			o.count = int(min(n, maxScan))
		case "TYPE":
			o.none = !strings.EqualFold(string(value), "string")
		default:
			return o, errSyntax
		}
	}
	return o, nil
}
