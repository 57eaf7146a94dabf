package server

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a reader makes of a stream: the requests, each as one string, and how it ended.
type reading struct {
	requests []string
	err      string // "" when only more input was wanted
}

func shownRequest(args [][]byte) string { return fmt.Sprintf("%q", args) }

// readOurs reads the stream in pieces with the server's framer and splitter.
func readOurs(stream []byte, size int, authed bool) (r reading) {
	c := &client{framer: framer{maxRequest: fuzzMaxRequest, authed: authed}}
	var buf []byte
	for len(stream) > 0 {
		n := min(size, len(stream))
		buf = append(buf, stream[:n]...)
		stream = stream[n:]
		for {
			end, skip, err := c.framer.scan(buf)
			if err != nil {
				r.err = err.Error()
				return r
			}
			if end == 0 {
				break
			}
			request := buf[:end]
			buf = buf[end:]
			if skip {
				continue
			}
			if err := c.split(request); err != nil {
				r.err = err.Error()
				return r
			}
			if len(c.args) > 0 {
				r.requests = append(r.requests, shownRequest(c.args))
			}
		}
	}
	return r
}

const fuzzMaxRequest = 1000

// readPlainly reads the whole stream at once, as slowly and obviously as can be.
func readPlainly(stream string, authed bool) (r reading) {
	for stream != "" {
		args, rest, err, whole := plainRequest(stream, authed)
		if err != "" {
			r.err = "ERR Protocol error: " + err
			return r
		}
		if !whole {
			return r
		}
		if len(args) > 0 {
			r.requests = append(r.requests, shownRequest(args))
		}
		stream = rest
	}
	return r
}

// plainRequest reads one request.
func plainRequest(s string, authed bool) (args [][]byte, rest, err string, whole bool) {
	if s[0] != '*' {
		return plainInline(s)
	}
	count, rest, err, whole := plainHeader(s[1:], "invalid multibulk length")
	if err != "" || !whole || count <= 0 {
		return nil, rest, err, whole
	}
	switch {
	case count > 1024*1024:
		return nil, "", "invalid multibulk length", false
	case !authed && count > 10:
		return nil, "", "unauthenticated multibulk length", false
	}
	for range count {
		if rest == "" {
			return nil, "", "", false
		}
		if rest[0] != '$' {
			return nil, "", fmt.Sprintf("expected '$', got '%c'", printable(rest[0])), false
		}
		var n int64
		n, rest, err, whole = plainHeader(rest[1:], "invalid bulk length")
		if err != "" || !whole {
			return nil, "", err, false
		}
		used := int64(len(s) - len(rest))
		switch {
		case n < 0 || n > 512*1024*1024:
			return nil, "", "invalid bulk length", false
		case !authed && n > 16384:
			return nil, "", "unauthenticated bulk length", false
		case used+n+2 > fuzzMaxRequest:
			return nil, "", "invalid bulk length", false
		case int64(len(rest)) < n+2:
			return nil, "", "", false
		case rest[n:n+2] != "\r\n":
			return nil, "", "invalid bulk length", false
		}
		args = append(args, []byte(rest[:n]))
		rest = rest[n+2:]
	}
	return args, rest, "", true
}

// plainHeader reads a number and its line's end. A header that can't become a number is refused before its line ends.
func plainHeader(s, bad string) (n int64, rest, err string, whole bool) {
	line, after, ended := strings.Cut(s, "\r")
	if len(line) >= maxHeader {
		return 0, "", bad, false
	}
	if !ended {
		digits := strings.TrimPrefix(line, "-")
		if strings.Trim(digits, "0123456789") != "" {
			return 0, "", bad, false
		}
		return 0, "", "", false
	}
	n, e := strconv.ParseInt(line, 10, 64)
	if e != nil || strconv.FormatInt(n, 10) != line {
		return 0, "", bad, false
	}
	if after == "" {
		return 0, "", "", false
	}
	if after[0] != '\n' {
		return 0, "", bad, false
	}
	return n, after[1:], "", true
}

func plainInline(s string) (args [][]byte, rest, err string, whole bool) {
	if s[0] == 0x16 {
		return nil, "", "TLS is not spoken on this port", false
	}
	line, rest, ended := strings.Cut(s, "\n")
	if len(line)+1 > 64*1024 {
		return nil, "", "too big inline request", false
	}
	if !ended {
		return nil, "", "", false
	}
	if line[:min(1, len(line))] == "$" { // a bulk string's header where a request should start
		word := line[1 : 1+len(line[1:])-len(strings.TrimLeftFunc(line[1:], func(r rune) bool { return r != ' ' && r != '\r' }))]
		if n, e := strconv.ParseInt(word, 10, 64); e == nil && (n < 0 || n > 512*1024*1024) || isOutOfRange(e) {
			return nil, "", "invalid bulk length", false
		}
	}
	args, e := splitInline([]byte(line), nil)
	if e != nil {
		return nil, "", "unbalanced quotes in request", false
	}
	return args, rest, "", true
}

// The server's reader, whatever pieces the input comes in, and a plain one of the whole input make the same of it.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"PING\r\n", inlined("INCR segment:a"), "*1\r\n$4\r\nPING\r\n*0\r\n*-1\r\nECHO 'a b'\r\n", "*1\r\n$-2\r\n", "*+1\r\n", "*01\r\n", "*1\r\n$9223372036854775807\r\n",
		"$4 PING\r\n$-5\r\n", "$99999999999999999999 x\n", "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", "*1\r\n$4\r\nPINGxx", "*1\r\n:4\r\n", "\x16\x03", "ECHO \"\\x41", "*3000\r\n" + strings.Repeat("$0\r\n\r\n", 200),
		"*1048576\r\n$1\r\n", "*1\rx", "*1\r\n$1\rx", "*-", "*--1\r\n", "*1\r\n$" + strings.Repeat("1", 40),
	} {
		f.Add([]byte(seed), byte(0), true)
		f.Add([]byte(seed), byte(200), false)
	}
	f.Fuzz(func(t *testing.T, stream []byte, size byte, authed bool) {
		want := readPlainly(string(stream), authed)
		got := readOurs(bytes.Clone(stream), int(size)+1, authed)
		if got.err != want.err || !slices.Equal(got.requests, want.requests) {
			t.Errorf("%q in pieces of %d (authed %v):\ngot  %q, %s\nwant %q, %s", stream, int(size)+1, authed, got.requests, got.err, want.requests, want.err)
		}
	})
}
