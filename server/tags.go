package server

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"redleaf/alloc"
)

func nowMs() int64 { return time.Now().UnixMilli() }

// statusOf returns a segment tag's status, nil when there is no such tag or no tag can have this name.
func (c *client) statusOf(tag []byte) (*alloc.Status, error) {
	if c.s.cfg.Segments == nil {
		return nil, errSegmentsOff
	}
	status, err := c.s.cfg.Segments.Status(c.patience(), string(tag))
	switch {
	case err == nil:
		return &status, nil
	case errors.Is(err, alloc.ErrNoTag), errors.Is(err, alloc.ErrBadTag), errors.Is(err, alloc.ErrCollation), errors.Is(err, alloc.ErrTooManyTags):
		return nil, nil
	}
	return nil, c.drawn(tag, err)
}

// set is SET key n [NX]: INCR gives n+1 next.
func (c *client) set(args [][]byte) error {
	tag, err := c.segment(args[1])
	if errors.Is(err, errWrongType) {
		return replyError("ERR snowflake ids come from the clock and can't be set")
	}
	if err != nil {
		return err
	}
	onlyNew, err := setOptions(args[3:])
	if err != nil {
		return err
	}
	n, err := parseInt(args[2])
	if err != nil {
		return err
	}
	if n < 0 {
		return replyError("ERR value is out of range, must be 0 or more")
	}
	if onlyNew {
		status, err := c.statusOf([]byte(tag))
		if err != nil {
			return err
		}
		if status != nil {
			c.null()
			return nil
		}
	}
	if err := c.s.cfg.Segments.Set(c.patience(), tag, n); err != nil {
		return c.drawn([]byte(tag), err)
	}
	c.status("OK")
	return nil
}

// setOptions reads what follows SET key value. Only NX means something here.
func setOptions(args [][]byte) (onlyNew bool, err error) {
	for _, arg := range args {
		switch option := strings.ToUpper(string(arg)); option {
		case "NX":
			onlyNew = true
		case "XX", "GET", "EX", "PX", "EXAT", "PXAT", "KEEPTTL":
			return false, replyError("ERR SET " + option + " is not supported: a segment's tag only moves forward and never expires")
		default:
			return false, errSyntax
		}
	}
	return onlyNew, nil
}

// hset is HSET key field value...: the tag's settings. It replies, as Redis does for fields that exist, 0.
func (c *client) hset(args [][]byte) error {
	tag, err := c.segment(args[1])
	if err != nil {
		return err
	}
	if len(args)%2 != 0 {
		return wrongArity("hset")
	}
	var settings tagSettings
	for i := 2; i < len(args); i += 2 {
		if err := setField(&settings, string(args[i]), args[i+1]); err != nil {
			return err
		}
	}
	if settings.Step != nil || settings.Description != nil {
		if err := c.s.cfg.Segments.Configure(c.patience(), tag, settings.Settings); err != nil {
			return c.drawn([]byte(tag), err)
		}
	}
	if settings.strict != nil {
		if err := c.s.cfg.Segments.MakeStrict(c.patience(), tag, *settings.strict); err != nil {
			return c.drawn([]byte(tag), err)
		}
	}
	c.int(0)
	return nil
}

// tagSettings are what HSET sets.
type tagSettings struct {
	alloc.Settings
	strict *bool
}

func setField(s *tagSettings, field string, value []byte) error {
	switch field {
	case "step":
		n, err := parseInt(value)
		if err != nil {
			return err
		}
		s.Step = &n
	case "description":
		s.Description = new(string(value))
	case "strict":
		if len(value) != 1 || value[0] != '0' && value[0] != '1' {
			return replyError("ERR value is out of range, strict is 0 or 1")
		}
		s.strict = new(value[0] == '1')
	default:
		return replyError(fmt.Sprintf("ERR field '%s' can't be set: step, description and strict can", clip([]byte(field), 64)))
	}
	return nil
}

// field is one line of HGETALL.
type field struct{ name, value string }

// fields lists what is known of a tag: its row, and its live state on this node.
func fields(s *alloc.Status) []field {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	strict := "0"
	if s.Strict {
		strict = "1"
	}
	lastErr := ""
	if s.Err != nil {
		lastErr = s.Err.Error()
	}
	return []field{
		{"max_id", number(s.Row.MaxID)},
		{"step", number(s.Row.Step)},
		{"description", s.Row.Description},
		{"update_time", s.Row.Updated.UTC().Format(time.RFC3339)},
		{"last", number(s.Last)},
		{"left", number(s.Left)},
		{"next", number(s.Next)},
		{"next_step", number(s.NextStep)},
		{"refills", number(s.Refills)},
		{"waits", number(s.Waits)},
		{"last_error", lastErr},
		{"strict", strict},
		{"holder", s.Holder},
	}
}

// hget is HGET key field.
func (c *client) hget(args [][]byte) error {
	status, err := c.tagStatus(args[1])
	if err != nil {
		return err
	}
	if status != nil {
		for _, f := range fields(status) {
			if f.name == string(args[2]) {
				c.bulk(f.value)
				return nil
			}
		}
	}
	c.null()
	return nil
}

// hgetAll is HGETALL key.
func (c *client) hgetAll(args [][]byte) error {
	status, err := c.tagStatus(args[1])
	if err != nil {
		return err
	}
	var all []field
	if status != nil {
		all = fields(status)
	}
	c.mapOf(len(all))
	for _, f := range all {
		c.bulk(f.name)
		c.bulk(f.value)
	}
	return nil
}

// tagStatus is statusOf for a key; other keys are not there, and snowflake ones no hashes.
func (c *client) tagStatus(key []byte) (*alloc.Status, error) {
	kind, tag := c.parseKey(key)
	switch kind {
	case segmentKey:
		return c.statusOf(tag)
	case snowflakeKey:
		return nil, errWrongType
	}
	return nil, nil
}

// del is DEL key...: how many tags it retired. All keys are checked before the first is touched.
func (c *client) del(args [][]byte) error {
	for _, key := range args[1:] {
		if kind, _ := c.parseKey(key); kind == otherKey {
			return errKeys
		}
	}
	deleted := int64(0)
	for _, key := range args[1:] {
		kind, tag := c.parseKey(key)
		if kind == snowflakeKey { // a label, of which nothing is kept
			continue
		}
		if c.s.cfg.Segments == nil {
			return errSegmentsOff
		}
		err := c.s.cfg.Segments.Delete(c.patience(), string(tag))
		switch {
		case err == nil:
			deleted++
		case !errors.Is(err, alloc.ErrNoTag) && !errors.Is(err, alloc.ErrBadTag):
			return c.drawn(tag, err)
		}
	}
	c.int(deleted)
	return nil
}
