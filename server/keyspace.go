package server

import (
	"redleaf/alloc"

	"github.com/tidwall/redcon"
)

const (
	keysPage = 1000      // rows read by one statement of KEYS
	maxKeys  = 1_000_000 // matches that KEYS lists
)

// exists reports whether the key is there: a segment tag that has a row, or any snowflake label.
func (c *client) exists(key []byte) (bool, error) {
	kind, tag := c.parseKey(key)
	switch {
	case kind == snowflakeKey:
		return c.s.cfg.Snowflakes != nil && validLabel(tag), nil
	case kind == segmentKey && c.s.cfg.Segments != nil:
		status, err := c.statusOf(tag)
		return status != nil, err
	}
	return false, nil
}

// existsCmd is EXISTS key...
func (c *client) existsCmd(args [][]byte) error {
	n := int64(0)
	for _, key := range args[1:] {
		yes, err := c.exists(key)
		if err != nil {
			return err
		}
		if yes {
			n++
		}
	}
	c.int(n)
	return nil
}

// typeCmd is TYPE key.
func (c *client) typeCmd(args [][]byte) error {
	yes, err := c.exists(args[1])
	if err != nil {
		return err
	}
	if yes {
		c.status("string")
	} else {
		c.status("none")
	}
	return nil
}

// ttl is TTL and PTTL key: nothing expires.
func (c *client) ttl(args [][]byte) error {
	yes, err := c.exists(args[1])
	if err != nil {
		return err
	}
	if yes {
		c.int(-1)
	} else {
		c.int(-2)
	}
	return nil
}

// dbSize is DBSIZE: the number of segment tags.
func (c *client) dbSize([][]byte) error {
	if c.s.cfg.Segments == nil {
		c.int(0)
		return nil
	}
	n, err := c.s.cfg.Segments.Count(c.patience())
	if err != nil {
		return c.drawn(nil, err)
	}
	c.int(n)
	return nil
}

// keys is KEYS pattern, over segment tags.
func (c *client) keys(args [][]byte) error {
	var found []string
	pattern := string(args[1])
	for after := ""; c.s.cfg.Segments != nil; {
		rows, err := c.s.cfg.Segments.List(c.patience(), after, keysPage)
		if err != nil {
			return c.drawn(nil, err)
		}
		found = c.s.appendMatches(found, rows, pattern)
		if len(found) > maxKeys {
			return replyError("ERR more than a million tags match: use SCAN")
		}
		if len(rows) < keysPage {
			break
		}
		after = rows[len(rows)-1].Tag
	}
	size := int64(0)
	for _, key := range found {
		size += int64(len(key)) + 10
	}
	if err := c.reserve(size); err != nil {
		return err
	}
	c.listKeys(found)
	return nil
}

// appendMatches appends the keys of rows that match; "" matches all.
func (s *Server) appendMatches(keys []string, rows []alloc.Row, pattern string) []string {
	for _, row := range rows {
		if key := s.key(row.Tag); pattern == "" || glob(pattern, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (c *client) listKeys(keys []string) {
	c.array(len(keys))
	for _, key := range keys {
		c.out = redcon.AppendBulkString(c.out, key)
	}
}
