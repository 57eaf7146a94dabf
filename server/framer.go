package server

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// Redis's own limits.
const (
	maxArgs      = 1 << 20   // arguments of a request
	maxBulk      = 512 << 20 // bytes of an argument
	maxInline    = 64 << 10  // bytes of an inline request
	maxHeader    = 32        // bytes of a header line: a length that fits 64 bits, and then some
	maxAuthArgs  = 10        // arguments of a request before AUTH
	maxAuthBulk  = 16384     // bytes of an argument before AUTH
	tlsHandshake = 0x16      // first byte of a TLS record that starts a handshake
)

// protocolError is a request that can't be understood; the connection is closed after it is told.
type protocolError string

func (e protocolError) Error() string { return "ERR Protocol error: " + string(e) }

// Where framing fails, in Redis's words.
const (
	errMultibulkLength     protocolError = "invalid multibulk length"
	errBulkLength          protocolError = "invalid bulk length"
	errInlineTooBig        protocolError = "too big inline request"
	errQuotes              protocolError = "unbalanced quotes in request"
	errAuthMultibulkLength protocolError = "unauthenticated multibulk length"
	errAuthBulkLength      protocolError = "unauthenticated bulk length"
	errTLS                 protocolError = "TLS is not spoken on this port"
)

// framer finds where a request ends, and refuses every header that redcon's parser must not see: lengths that are
// negative, overflow, have a sign, or exceed the limits. It remembers how far it has read, so that a sender of single
// bytes costs no more than another.
type framer struct {
	maxRequest int
	authed     bool // false: the limits before AUTH hold

	pos    int // bytes of the request that were scanned
	args   int // arguments still to come, once the header was read
	header bool
}

// scan looks at buf, which starts where the request does. size is the request's length once it is complete, else 0. A
// request of no arguments is complete and empty: skip is true.
func (f *framer) scan(buf []byte) (size int, skip bool, err error) {
	if len(buf) == 0 {
		return 0, false, nil
	}
	if buf[0] != '*' {
		size, err = f.scanInline(buf)
		return size, false, err
	}
	if !f.header {
		count, end, err := f.number(buf, 1, errMultibulkLength)
		if err != nil || end == 0 {
			return 0, false, err
		}
		if count <= 0 {
			f.reset()
			return end, true, nil
		}
		if count > maxArgs {
			return 0, false, errMultibulkLength
		}
		if !f.authed && count > maxAuthArgs {
			return 0, false, errAuthMultibulkLength
		}
		f.header, f.args, f.pos = true, int(count), end
	}
	for f.args > 0 {
		end, err := f.bulk(buf)
		if err != nil || end == 0 {
			return 0, false, err
		}
		f.pos = end
		f.args--
	}
	size = f.pos
	f.reset()
	return size, false, nil
}

// begun reports whether a part of a request was scanned.
func (f *framer) begun() bool { return f.header || f.pos > 0 }

func (f *framer) reset() { f.pos, f.args, f.header = 0, 0, false }

// bulk returns where the argument that starts at f.pos ends; 0: not received yet.
func (f *framer) bulk(buf []byte) (end int, err error) {
	if f.pos >= len(buf) {
		return 0, nil
	}
	if buf[f.pos] != '$' {
		return 0, protocolError(fmt.Sprintf("expected '$', got '%c'", printable(buf[f.pos])))
	}
	n, start, err := f.number(buf, f.pos+1, errBulkLength)
	if err != nil || start == 0 {
		return 0, err
	}
	switch {
	case n < 0 || n > maxBulk:
		return 0, errBulkLength
	case !f.authed && n > maxAuthBulk:
		return 0, errAuthBulkLength
	case start+int(n)+2 > f.maxRequest:
		return 0, errBulkLength
	}
	end = start + int(n) + 2
	if end > len(buf) {
		return 0, nil
	}
	if buf[end-2] != '\r' || buf[end-1] != '\n' {
		return 0, errBulkLength
	}
	return end, nil
}

// number reads the header's number, which starts at from, and returns where the line ends; 0: not received yet. A minus
// sign is the only one allowed, and leading zeros are not, as in Redis.
func (f *framer) number(buf []byte, from int, bad error) (n int64, end int, err error) {
	line := buf[from:]
	if len(line) > maxHeader {
		line = line[:maxHeader]
	}
	i := bytes.IndexByte(line, '\r')
	if i < 0 {
		if len(line) == maxHeader || !startsNumber(line) {
			return 0, 0, bad
		}
		return 0, 0, nil
	}
	n, ok := parseLength(line[:i])
	if !ok {
		return 0, 0, bad
	}
	if from+i+1 >= len(buf) {
		return 0, 0, nil
	}
	if buf[from+i+1] != '\n' {
		return 0, 0, bad
	}
	return n, from + i + 2, nil
}

// startsNumber reports whether a length may begin like this.
func startsNumber(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// parseLength reads a decimal number as Redis's string2ll does: an optional minus sign, no leading zeros, 64 bits.
func parseLength(b []byte) (n int64, ok bool) {
	digits, negative := b, false
	if len(b) > 1 && b[0] == '-' {
		digits, negative = b[1:], true
	}
	if len(digits) == 0 || len(digits) > 19 || digits[0] == '0' && (len(digits) > 1 || negative) {
		return 0, false
	}
	var u uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		u = u*10 + uint64(c-'0')
	}
	switch {
	case negative && u <= 1<<63:
		return -int64(u), true
	case !negative && u <= math.MaxInt64:
		return int64(u), true
	}
	return 0, false
}

// scanInline looks for the end of an inline request.
func (f *framer) scanInline(buf []byte) (size int, err error) {
	if buf[0] == tlsHandshake {
		return 0, errTLS
	}
	i := bytes.IndexByte(buf[f.pos:], '\n')
	if i < 0 {
		f.pos = len(buf)
	} else {
		size = f.pos + i + 1
		f.reset()
	}
	if f.pos > maxInline || size > maxInline {
		return 0, errInlineTooBig
	}
	if size > 0 && impossibleBulk(buf[:size]) {
		return 0, errBulkLength
	}
	return size, nil
}

// impossibleBulk reports whether a line starts with the header of an argument that nobody can send: its sender and this
// server no longer agree on where requests begin.
func impossibleBulk(line []byte) bool {
	if line[0] != '$' {
		return false
	}
	word := line[1:]
	if i := bytes.IndexAny(word, " \r\n"); i >= 0 {
		word = word[:i]
	}
	n, err := strconv.ParseInt(string(word), 10, 64)
	return err == nil && (n < 0 || n > maxBulk) || isOutOfRange(err)
}

// printable makes a byte of a message readable, as Redis does for its log.
func printable(b byte) rune {
	if b < ' ' || b > '~' {
		return '?'
	}
	return rune(b)
}
