package bench

import (
	"slices"
	"strings"
	"testing"
)

// collected is a sink that keeps what it gets.
type collected struct{ replies, ids []int64 }

func (c *collected) take(reply, id int64) {
	c.replies, c.ids = append(c.replies, reply), append(c.ids, id)
}

// scanInPieces offers the input so many bytes more at a time, as reads from a connection do.
func scanInPieces(s *scanner, input string, piece int) (rest string) {
	seen, used := 0, 0
	for seen < len(input) {
		seen = min(seen+piece, len(input))
		used += s.scan([]byte(input[used:seen]))
	}
	return input[used:]
}

func TestScanner(t *testing.T) {
	for _, tt := range []struct {
		name, input             string
		replies, values, errors int64
		failure                 string
		ids                     []int64
	}{
		{name: "integers", input: ":1\r\n:22\r\n:333\r\n", replies: 3, values: 3, ids: []int64{1, 22, 333}},
		{name: "largest", input: ":9223372036854775807\r\n:-9223372036854775808\r\n", replies: 2, values: 2, ids: []int64{1<<63 - 1, -1 << 63}},
		{name: "bulk", input: "$1\r\n7\r\n$19\r\n2127834482818941024\r\n", replies: 2, values: 2, ids: []int64{7, 2127834482818941024}},
		{name: "array", input: "*3\r\n$1\r\n1\r\n$2\r\n22\r\n:3\r\n:4\r\n", replies: 2, values: 4, ids: []int64{1, 22, 3, 4}},
		{name: "nested", input: "*2\r\n*2\r\n:1\r\n:2\r\n*1\r\n:3\r\n:4\r\n", replies: 2, values: 4, ids: []int64{1, 2, 3, 4}},
		{name: "nested last and empty", input: "*2\r\n:1\r\n*0\r\n:4\r\n", replies: 2, values: 2, ids: []int64{1, 4}},
		{name: "empty arrays", input: "*0\r\n:1\r\n*0\r\n", replies: 3, values: 1, ids: []int64{1}},
		{name: "map", input: "%1\r\n:1\r\n:2\r\n:3\r\n", replies: 2, values: 3, ids: []int64{1, 2, 3}},
		{name: "error among integers", input: ":1\r\n-TRYAGAIN no: ids\r\n:2\r\n", replies: 3, values: 2, errors: 1, failure: "TRYAGAIN no: ids", ids: []int64{1, 2}},
		{name: "two errors", input: "-A\r\n-B\r\n", replies: 2, errors: 2, failure: "A"},
		{name: "bulk error", input: "!3\r\nX y\r\n", replies: 1, errors: 1, failure: "X y"},
		{name: "nils", input: "$-1\r\n_\r\n*-1\r\n:5\r\n", replies: 4, values: 1, errors: 3, failure: "a nil reply", ids: []int64{5}},
		{name: "nil in an array", input: "*2\r\n$-1\r\n:5\r\n", replies: 1, values: 1, errors: 1, failure: "a nil reply", ids: []int64{5}},
		{name: "line end in a string", input: "*2\r\n$2\r\n\r\n\r\n$1\r\n:\r\n", replies: 1, errors: 2, failure: "not an id: \r\n"},
		{name: "status", input: "+OK\r\n:1\r\n", replies: 2, values: 2, ids: []int64{1}},
		{name: "unfinished", input: ":1\r\n:2", replies: 1, values: 1, ids: []int64{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for piece := 1; piece <= len(tt.input); piece++ {
				got := new(collected)
				s := scanner{sink: got}
				rest := scanInPieces(&s, tt.input, piece)
				if s.broken || s.replies != tt.replies || s.values != tt.values || s.errors != tt.errors || s.failure != tt.failure {
					t.Errorf("in pieces of %d: %+v", piece, s)
				}
				if !slices.Equal(got.ids, tt.ids) {
					t.Errorf("in pieces of %d: ids %d", piece, got.ids)
				}
				if tt.name != "unfinished" && rest != "" {
					t.Errorf("in pieces of %d: %q is left", piece, rest)
				}
			}
		})
	}
}

// Counting must come to the same as reading each id.
func TestScannerCounts(t *testing.T) {
	line := func(n int, s string) string { return strings.Repeat(s, n) }
	input := line(5000, ":12345\r\n") + "-ERR no: such - $\r\n" + line(70, ":7\r\n") + line(3, "$2\r\n::\r\n") + line(100, ":8\r\n") +
		"*2\r\n:1\r\n:2\r\n" + line(200, ":9\r\n") + "*500\r\n" + line(500, "$2\r\n11\r\n") + line(500, "$2\r\n22\r\n") +
		line(500, "$3\r\n333\r\n") + "$-1\r\n" + line(3000, ":-5\r\n") + line(5000, ":1\r\n")
	for _, piece := range []int{1, 2, 3, 7, 64, 1000, 4096, stretch, len(input)} {
		var s scanner
		if rest := scanInPieces(&s, input, piece); rest != "" {
			t.Errorf("in pieces of %d: %q is left", piece, rest)
		}
		const replies = 5000 + 1 + 70 + 3 + 100 + 1 + 200 + 1 + 500 + 500 + 1 + 3000 + 5000
		const values = 5000 + 70 + 3 + 100 + 2 + 200 + 500 + 500 + 500 + 3000 + 5000
		if s.replies != replies || s.values != values || s.errors != 2 || s.failure != "ERR no: such - $" {
			t.Errorf("in pieces of %d: %+v", piece, s)
		}
	}
}

func TestScannerRepliesOfIDs(t *testing.T) {
	got := new(collected)
	s := scanner{sink: got}
	s.scan([]byte("*2\r\n$1\r\n1\r\n$1\r\n2\r\n:3\r\n*1\r\n$1\r\n4\r\n"))
	if want := []int64{0, 0, 1, 2}; !slices.Equal(got.replies, want) {
		t.Errorf("replies %d, want %d", got.replies, want)
	}
}

func TestScannerBroken(t *testing.T) {
	for _, input := range []string{"1\r\n", "\r\n", ":1\n", "$x\r\n", "$-2\r\n", "*x\r\n", "*-2\r\n", "$99999999999999999999\r\n", "?\r\n"} {
		s := scanner{}
		if s.scan([]byte(input)); !s.broken {
			t.Errorf("%q passes: %+v", input, s)
		}
	}
}

// BenchmarkScanner is what counting a reply costs, without a network; ns/op is for one reply or one element.
func BenchmarkScanner(b *testing.B) {
	const replies = 8192
	for _, bb := range []struct{ name, reply string }{
		{"integers", ":12345678\r\n"},
		{"strings", "$19\r\n2127834482818941024\r\n"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			input := []byte(strings.Repeat(bb.reply, replies))
			b.SetBytes(int64(len(bb.reply)))
			for i := 0; i < b.N; i += replies {
				var s scanner
				if s.scan(input); s.replies != replies {
					b.Fatal(s.replies)
				}
			}
			perSecond(b)
		})
	}
}

// perSecond reports millions of replies per second.
func perSecond(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mreplies/s")
}
