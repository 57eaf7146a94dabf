package server

import (
	"bytes"

	"redleaf/alloc"
)

type keyKind uint8

const (
	otherKey keyKind = iota
	segmentKey
	snowflakeKey
)

const (
	segmentPrefix   = "segment:"
	snowflakePrefix = "snowflake:"
)

// parseKey returns what a key draws from, and its tag. A hash tag of Redis Cluster at the end, as in segment:orders{7}, is
// for routing only. With bare keys, one without a prefix is a segment's tag as it stands.
func (c *client) parseKey(key []byte) (kind keyKind, tag []byte) {
	if kind, tag = parseKey(key); kind == otherKey && c.s.cfg.BareKeys && len(key) > 0 {
		return segmentKey, withoutSalt(key)
	}
	return kind, tag
}

func parseKey(key []byte) (kind keyKind, tag []byte) {
	switch {
	case len(key) > len(segmentPrefix) && string(key[:len(segmentPrefix)]) == segmentPrefix:
		return segmentKey, withoutSalt(key[len(segmentPrefix):])
	case len(key) > len(snowflakePrefix) && string(key[:len(snowflakePrefix)]) == snowflakePrefix:
		return snowflakeKey, withoutSalt(key[len(snowflakePrefix):])
	}
	return otherKey, nil
}

// key returns the key that lists show for a segment's tag.
func (s *Server) key(tag string) string {
	if s.cfg.BareKeys {
		if kind, _ := parseKey([]byte(tag)); kind == otherKey {
			return tag
		}
	}
	return segmentPrefix + tag
}

// withoutSalt cuts a trailing {salt} off, if something is in it and before it.
func withoutSalt(tag []byte) []byte {
	if tag[len(tag)-1] != '}' {
		return tag
	}
	open := bytes.LastIndexByte(tag, '{')
	if open < 1 || open == len(tag)-2 || bytes.IndexByte(tag[open:len(tag)-1], '}') >= 0 {
		return tag
	}
	return tag[:open]
}

// validLabel reports whether a snowflake tag is one.
func validLabel(tag []byte) bool { return alloc.CheckTag(string(tag)) == nil }

// segment returns the tag of a segment key; other keys can't be written.
func (c *client) segment(key []byte) (string, error) {
	kind, tag := c.parseKey(key)
	switch {
	case kind == otherKey:
		return "", errKeys
	case kind == snowflakeKey:
		return "", errWrongType
	case c.s.cfg.Segments == nil:
		return "", errSegmentsOff
	}
	return string(tag), nil
}
