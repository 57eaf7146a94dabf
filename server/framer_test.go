package server

import (
	"errors"
	"strings"
	"testing"
)

func TestFramer(t *testing.T) {
	const limit = 1 << 20
	tests := []struct {
		raw  string
		size int // 0: incomplete
		err  error
	}{
		{"", 0, nil},
		{"*", 0, nil},
		{"*1", 0, nil},
		{"*1\r", 0, nil},
		{"*1\r\n", 0, nil},
		{"*1\r\n$4\r\nPIN", 0, nil},
		{"*1\r\n$4\r\nPING\r", 0, nil},
		{"*1\r\n$4\r\nPING\r\n", 14, nil},
		{"*1\r\n$4\r\nPING\r\n*1\r\n", 14, nil},
		{"*0\r\n", 4, nil},
		{"*-1\r\n", 5, nil},
		{"*1\rx", 0, errMultibulkLength},
		{"*+1\r\n", 0, errMultibulkLength},
		{"*-", 0, nil},
		{"*--", 0, errMultibulkLength},
		{"*1048576\r\n", 0, nil},
		{"*1048577\r\n", 0, errMultibulkLength},
		{"*1000000000\r\n", 0, errMultibulkLength},
		{"*99999999999999999999\r\n", 0, errMultibulkLength},
		{"*" + strings.Repeat("1", 40), 0, errMultibulkLength},
		{"*1\r\n$-2\r\n", 0, errBulkLength},
		{"*1\r\n$-9223372036854775808\r\n", 0, errBulkLength},
		{"*1\r\n$9223372036854775807\r\n", 0, errBulkLength},
		{"*1\r\n$1048577\r\n", 0, errBulkLength}, // above the request's limit, before any of it is buffered
		{"*1\r\n$4\r\nPINGxx", 0, errBulkLength},
		{"*1\r\n:4\r\n", 0, protocolError("expected '$', got ':'")},
		{"*1\r\n\r\n", 0, protocolError("expected '$', got '?'")},
		{"PING\n", 5, nil},
		{"PING", 0, nil},
		{strings.Repeat("x", maxInline) + "\n", 0, errInlineTooBig},
		{strings.Repeat("x", maxInline+1), 0, errInlineTooBig},
		{"$4 PING\r\n", 9, nil}, // an inline request, as in Redis
		{"$9223372036854775807 PING\r\n", 0, errBulkLength},
		{"$99999999999999999999\r\n", 0, errBulkLength},
		{"$-5\r\n", 0, errBulkLength},
		{"\x16\x03\x01", 0, errTLS},
	}
	for _, tt := range tests {
		whole := framer{maxRequest: limit, authed: true}
		size, _, err := whole.scan([]byte(tt.raw))
		if size != tt.size || !errors.Is(err, tt.err) {
			t.Errorf("scan(%.60q) = %d, %v, want %d, %v", tt.raw, size, err, tt.size, tt.err)
		}
		// A byte at a time, the answer is the same.
		slow := framer{maxRequest: limit, authed: true}
		size, err = 0, nil
		for i := 1; i <= len(tt.raw) && size == 0 && err == nil; i++ {
			size, _, err = slow.scan([]byte(tt.raw[:i]))
		}
		if size != tt.size || !errors.Is(err, tt.err) {
			t.Errorf("scan(%.60q) byte by byte = %d, %v, want %d, %v", tt.raw, size, err, tt.size, tt.err)
		}
	}
}

// The number of arguments alone can't make a request larger than its limit.
func TestFramerBoundsManySmallArguments(t *testing.T) {
	f := framer{maxRequest: 1000, authed: true}
	_, _, err := f.scan([]byte("*1000\r\n" + strings.Repeat("$0\r\n\r\n", 1000)))
	if !errors.Is(err, errBulkLength) {
		t.Errorf("got %v", err)
	}
}

func TestParseKey(t *testing.T) {
	tests := []struct {
		key  string
		kind keyKind
		tag  string
	}{
		{"segment:orders", segmentKey, "orders"},
		{"snowflake:any", snowflakeKey, "any"},
		{"segment:", otherKey, ""},
		{"snowflake:", otherKey, ""},
		{"Segment:orders", otherKey, ""},
		{"orders", otherKey, ""},
		{"", otherKey, ""},
		{"segment:a:b", segmentKey, "a:b"},
		{"segment:orders{7}", segmentKey, "orders"},
		{"snowflake:x{abc}", snowflakeKey, "x"},
		{"segment:{7}", segmentKey, "{7}"},
		{"segment:a{}", segmentKey, "a{}"},
		{"segment:a{b}{c}", segmentKey, "a{b}"},
		{"segment:a}", segmentKey, "a}"},
		{"segment:a}{b}", segmentKey, "a}"},
		{"segment:a{b}}", segmentKey, "a{b}}"},
		{"segment:}", segmentKey, "}"},
	}
	for _, tt := range tests {
		kind, tag := parseKey([]byte(tt.key))
		if kind != tt.kind || string(tag) != tt.tag {
			t.Errorf("parseKey(%q) = %d, %q, want %d, %q", tt.key, kind, tag, tt.kind, tt.tag)
		}
	}
}
