package server

import (
	"strconv"
	"strings"

	"github.com/tidwall/redcon"
)

// appendError appends an error reply on one line.
func appendError(b []byte, message string) []byte {
	if strings.ContainsAny(message, "\r\n") {
		message = strings.NewReplacer("\r", " ", "\n", " ").Replace(message)
	}
	return redcon.AppendError(b, message)
}

// appendBulkInt appends a decimal number as a bulk string.
func appendBulkInt(b []byte, n int64) []byte {
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], n, 10)
	b = append(b, '$')
	b = strconv.AppendInt(b, int64(len(d)), 10)
	b = append(b, '\r', '\n')
	b = append(b, d...)
	return append(b, '\r', '\n')
}

func (c *client) int(n int64)     { c.out = redcon.AppendInt(c.out, n) }
func (c *client) bulk(s string)   { c.out = redcon.AppendBulkString(c.out, s) }
func (c *client) status(s string) { c.out = redcon.AppendString(c.out, s) }
func (c *client) array(n int)     { c.out = redcon.AppendArray(c.out, n) }

// null appends the reply for a value that is not there.
func (c *client) null() {
	if c.resp3 {
		c.out = append(c.out, "_\r\n"...)
		return
	}
	c.out = redcon.AppendNull(c.out)
}

// mapOf starts a map of n pairs: in RESP2 an array of keys and values in turn.
func (c *client) mapOf(n int) {
	if !c.resp3 {
		c.array(2 * n)
		return
	}
	c.out = append(c.out, '%')
	c.out = strconv.AppendInt(c.out, int64(n), 10)
	c.out = append(c.out, '\r', '\n')
}

// setOf starts a set of n members: in RESP2 an array.
func (c *client) setOf(n int) {
	if !c.resp3 {
		c.array(n)
		return
	}
	c.out = append(c.out, '~')
	c.out = strconv.AppendInt(c.out, int64(n), 10)
	c.out = append(c.out, '\r', '\n')
}

// text appends text for people: in RESP3 a verbatim string, in RESP2 a bulk string.
func (c *client) text(s string) {
	if !c.resp3 {
		c.bulk(s)
		return
	}
	c.out = append(c.out, '=')
	c.out = strconv.AppendInt(c.out, int64(len(s)+4), 10)
	c.out = append(c.out, "\r\ntxt:"...)
	c.out = append(c.out, s...)
	c.out = append(c.out, '\r', '\n')
}
