package server

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/tidwall/redcon"

	"redleaf/alloc"
	"redleaf/snowflake"
)

const (
	bulkIDSize  = 26 // bytes of a 19-digit id as a bulk string
	longestDraw = 5  // seconds that one LPOP of snowflake ids may take
)

// incr is INCR key: the next id, an integer.
func (c *client) incr(args [][]byte) error {
	id, err := c.integerID(args[1])
	if err != nil {
		return err
	}
	c.int(id)
	return nil
}

// integerID draws one id of either kind, where integers may carry it.
func (c *client) integerID(key []byte) (int64, error) {
	kind, tag := c.parseKey(key)
	switch kind {
	case segmentKey:
		return c.segmentID(tag)
	case snowflakeKey:
		if n := c.s.cfg.Snowflakes; n != nil && !n.Layout().JavaScriptSafe() {
			return 0, replyError("ERR ids of this snowflake layout have more than 53 bits, which JavaScript clients round " +
				"as integers: use GET or LPOP, or start redleaf with --bits js53")
		}
		return c.snowflakeID(tag)
	}
	return 0, errKeys
}

// segmentID draws the tag's next id.
func (c *client) segmentID(tag []byte) (int64, error) {
	seg := c.s.cfg.Segments
	if seg == nil {
		return 0, errSegmentsOff
	}
	id, got := seg.Take(tag, 1)
	if got > 0 {
		return id, nil
	}
	err := seg.Draw(c.patience(), string(tag), 1, func(first, _ int64) { id = first })
	return id, c.drawn(tag, err)
}

// snowflakeID draws one snowflake id. The tag is a label: it makes no difference.
func (c *client) snowflakeID(tag []byte) (int64, error) {
	n := c.s.cfg.Snowflakes
	if n == nil {
		return 0, errSnowflakesOff
	}
	if err := checkLabel(tag); err != nil {
		return 0, err
	}
	id, got := n.Take(1)
	if got > 0 {
		return id, nil
	}
	err := n.Draw(c.patience(), 1, func(first, _ int64) { id = first })
	return id, c.drawn(tag, err)
}

// drawn takes note of how a draw ended.
func (c *client) drawn(tag []byte, err error) error {
	if err == nil {
		return nil
	}
	if held, ok := errors.AsType[*alloc.HeldError](err); ok {
		return c.heldElsewhere(held)
	}
	if errors.Is(err, alloc.ErrUnavailable) || errors.Is(err, snowflake.ErrUnavailable) {
		c.vain = true
	}
	return &tagError{string(tag), err}
}

// checkLabel checks a snowflake tag; the common ones without converting them.
func checkLabel(tag []byte) error {
	plain := len(tag) <= alloc.MaxTag && tag[0] != ' ' && tag[len(tag)-1] != ' '
	for _, b := range tag {
		plain = plain && ' ' <= b && b <= '~'
	}
	if plain {
		return nil
	}
	return alloc.CheckTag(string(tag))
}

// incrBy is INCRBY key n: n contiguous ids, of which the reply is the last.
func (c *client) incrBy(args [][]byte) error {
	n, err := parseInt(args[2])
	if err != nil {
		return err
	}
	if n == 1 { // redis-py's incr
		return c.incr(args)
	}
	tag, err := c.segment(args[1])
	switch {
	case errors.Is(err, errWrongType):
		return replyError("ERR snowflake ids can't be reserved as a range: LPOP key " + strconv.FormatInt(max(n, 1), 10) + " draws as many")
	case err != nil:
		return err
	case n < 1:
		return errForward
	case n > c.s.cfg.MaxBatch:
		return c.tooMany()
	}
	first, err := c.s.cfg.Segments.Reserve(c.patience(), tag, n)
	if err != nil {
		return c.drawn([]byte(tag), err)
	}
	c.int(first + n - 1)
	return nil
}

func (c *client) tooMany() error {
	return replyError(fmt.Sprintf("ERR value is out of range, must be at most %d (--max-batch)", c.s.cfg.MaxBatch))
}

// get is GET key: a new snowflake id as a bulk string. A segment key is refused: drawing here would make every look cost
// an id, and a look would show an id that somebody has.
func (c *client) get(args [][]byte) error {
	kind, tag := c.parseKey(args[1])
	switch kind {
	case snowflakeKey:
		id, err := c.snowflakeID(tag)
		if err != nil {
			return err
		}
		c.out = appendBulkInt(c.out, id)
	case segmentKey:
		return c.getSegment(args[1], tag)
	default:
		c.null()
	}
	return nil
}

// getSegment refuses to look at a segment. A bare key that is no tag is not there: clients look for keys of their own.
func (c *client) getSegment(key, tag []byte) error {
	if kind, _ := parseKey(key); kind == otherKey {
		status, err := c.statusOf(tag)
		if err != nil {
			return err
		}
		if status == nil {
			c.null()
			return nil
		}
	}
	return replyError("ERR GET does not draw from a segment: use INCR; HGET key last shows the last id")
}

// mget is MGET key...: a new id for each snowflake key, nil for others.
func (c *client) mget(args [][]byte) error {
	c.array(len(args) - 1)
	for _, key := range args[1:] {
		kind, tag := c.parseKey(key)
		if kind != snowflakeKey {
			c.null()
			continue
		}
		id, err := c.snowflakeID(tag)
		if err != nil {
			return err
		}
		c.out = appendBulkInt(c.out, id)
	}
	return nil
}

// pop is LPOP and RPOP key [count]: every key is an endless queue of ids.
func (c *client) pop(args [][]byte) error {
	if len(args) > 3 {
		return wrongArity(c.last.name)
	}
	if len(args) == 2 {
		return c.popOne(args[1])
	}
	count, err := parseInt(args[2])
	if err != nil || count < 0 {
		return errNotPositive
	}
	kind, tag := c.parseKey(args[1])
	switch {
	case kind == otherKey:
		return errKeys
	case count > c.s.cfg.MaxBatch:
		return c.tooMany()
	case kind == snowflakeKey && c.s.cfg.Snowflakes != nil && count > longestDraw*c.s.cfg.Snowflakes.PerSecond():
		return replyError(fmt.Sprintf("ERR value is out of range: with this layout %d ids are as many as %d seconds give", longestDraw*c.s.cfg.Snowflakes.PerSecond(), longestDraw))
	case count == 0:
		c.array(0)
		return nil
	}
	if err := c.reserve(count * bulkIDSize); err != nil {
		return err
	}
	c.array(int(count))
	return c.drawn(tag, c.drawMany(kind, tag, count))
}

func (c *client) popOne(key []byte) error {
	var id int64
	var err error
	switch kind, tag := c.parseKey(key); kind {
	case segmentKey:
		id, err = c.segmentID(tag)
	case snowflakeKey:
		id, err = c.snowflakeID(tag)
	default:
		err = errKeys
	}
	if err != nil {
		return err
	}
	c.out = appendBulkInt(c.out, id)
	return nil
}

// drawMany appends count ids as bulk strings. After an error the caller takes back what was appended.
func (c *client) drawMany(kind keyKind, tag []byte, count int64) error {
	emit := func(first, n int64) {
		c.out = appendBulkIntRun(c.out, first, n)
	}
	switch {
	case kind == segmentKey && c.s.cfg.Segments == nil:
		return errSegmentsOff
	case kind == segmentKey:
		return c.s.cfg.Segments.Draw(c.patience(), string(tag), count, emit)
	case c.s.cfg.Snowflakes == nil:
		return errSnowflakesOff
	}
	if err := checkLabel(tag); err != nil {
		return err
	}
	return c.s.cfg.Snowflakes.Draw(c.patience(), count, emit)
}

// parseInt reads an integer as Redis does.
func parseInt(b []byte) (int64, error) {
	n, ok := parseLength(b)
	if !ok {
		return 0, errNotInt
	}
	return n, nil
}

// strlen is STRLEN key: how many digits an id has now. It draws none.
func (c *client) strlen(args [][]byte) error {
	kind, tag := c.parseKey(args[1])
	switch {
	case kind == snowflakeKey && c.s.cfg.Snowflakes != nil && validLabel(tag):
		l := c.s.cfg.Snowflakes.Layout()
		c.int(int64(len(strconv.FormatInt(l.ID(min(max(nowMs(), l.Epoch), l.MaxTime()), 0, 0), 10))))
	case kind == segmentKey:
		status, err := c.statusOf(tag)
		if err != nil {
			return err
		}
		if status == nil {
			c.int(0)
			break
		}
		c.int(int64(len(strconv.FormatInt(status.Row.MaxID-1, 10))))
	default:
		c.out = redcon.AppendInt(c.out, 0)
	}
	return nil
}
