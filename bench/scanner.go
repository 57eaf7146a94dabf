package bench

import (
	"bytes"
	"math"
)

// Integers are counted so many bytes at a time, and where that fails so many values are read one by one: a mixed stream must
// not be searched again from each value.
const (
	stretch    = 16 << 10
	retryAfter = 64
)

// A scanner counts replies of RESP2 and RESP3. It keeps no bytes: what is not yet whole is offered again with what
// follows, so the caller's buffer must hold the largest single value. The values of an array count one by one.
type scanner struct {
	replies int64  // complete replies
	values  int64  // integers and strings in them
	errors  int64  // error replies and nils
	failure string // text of the first of those
	broken  bool   // what came is not RESP

	left   int64 // values outstanding in a reply that has begun
	singly int   // values to read one by one before many is tried again

	// sink gets every integer; nil: count only.
	sink sink
}

// A sink takes the ids as they are read. reply is the number of the reply they came in, from 0.
type sink interface {
	take(reply, id int64)
}

// scan reads whole values from p and returns how many bytes they took.
func (s *scanner) scan(p []byte) (used int) {
	for used < len(p) && !s.broken {
		n, together := 0, s.singly == 0 && s.sink == nil
		if together {
			n = s.many(p[used:])
		}
		if n == 0 {
			if n = s.value(p[used:]); n == 0 {
				break
			}
			if together {
				s.singly = retryAfter
			}
			s.singly = max(s.singly-1, 0)
		}
		used += n
	}
	return used
}

// many counts values of one kind, without looking at each, and returns how many bytes they took.
func (s *scanner) many(p []byte) int {
	switch {
	case p[0] == ':' && s.left == 0:
		return s.integers(p)
	case p[0] == '$':
		return s.equalStrings(p)
	default:
		return 0
	}
}

// equalStrings counts strings as long as the first, as ids are nearly always: whose header has the same bytes, and which
// end where they must.
func (s *scanner) equalStrings(p []byte) int {
	const header = 5 // "$19\r\n"
	end := bytes.IndexByte(p[:min(len(p), header)], '\n')
	if end < 3 {
		return 0
	}
	n, ok := number(p[1 : end-1])
	size := end + 1 + int(n) + 2
	if !ok || n < 0 || len(p) < size {
		return 0
	}
	most := math.MaxInt
	if s.left > 0 {
		most = int(s.left)
	}
	count, used, head := 0, 0, p[:end+1]
	for count < most && used+size <= len(p) {
		one := p[used : used+size]
		if string(one[:len(head)]) != string(head) || one[size-2] != '\r' || one[size-1] != '\n' {
			break
		}
		count, used = count+1, used+size
	}
	s.values += int64(count)
	s.ended(int64(count))
	return used
}

// integers counts a stretch of integer replies by their bytes. It must be sure: each line has one colon, and there is
// nothing in it that other replies are made of.
func (s *scanner) integers(p []byte) int {
	p = p[:min(len(p), stretch)]
	p = p[:bytes.LastIndexByte(p, '\n')+1]
	lines := bytes.Count(p, []byte{'\n'})
	if lines == 0 || bytes.Count(p, []byte{':'}) != lines || bytes.Count(p, []byte{'\r'}) != lines ||
		bytes.IndexByte(p, '-') >= 0 || bytes.IndexByte(p, '$') >= 0 {
		return 0
	}
	s.replies += int64(lines)
	s.values += int64(lines)
	return len(p)
}

// value reads one value, or the header of an array, and returns its length; 0 when it is not whole.
func (s *scanner) value(p []byte) int {
	end := bytes.IndexByte(p, '\n')
	if end < 2 || p[end-1] != '\r' {
		s.broken = s.broken || end >= 0
		return 0
	}
	head, size := p[1:end-1], end+1
	switch p[0] {
	case ':':
		s.id(head)
	case '+', '#', ',', '(':
		s.values++
	case '_':
		s.fail("a nil reply")
	case '-':
		s.fail(string(head))
	case '$', '=', '!':
		return s.bulk(p, size)
	case '*', '~', '>':
		return s.elements(head, size, 1)
	case '%':
		return s.elements(head, size, 2)
	default:
		s.broken = true
		return 0
	}
	s.ended(1)
	return size
}

// bulk reads a string whose header took size bytes.
func (s *scanner) bulk(p []byte, size int) int {
	n, ok := number(p[1 : size-2])
	switch {
	case !ok || n < -1:
		s.broken = true
		return 0
	case n == -1:
		s.fail("a nil reply")
		s.ended(1)
		return size
	case int64(len(p)-size) < n+2:
		return 0
	}
	text := p[size : size+int(n)]
	if p[0] == '!' {
		s.fail(string(text))
	} else {
		s.id(text)
	}
	s.ended(1)
	return size + int(n) + 2
}

// elements begins an array of which each element has so many values.
func (s *scanner) elements(head []byte, size int, each int64) int {
	n, ok := number(head)
	if !ok || n < -1 {
		s.broken = true
		return 0
	}
	if n == -1 {
		s.fail("a nil reply")
	}
	// The array was itself a value of what it is in.
	s.left = max(s.left-1, 0) + max(n, 0)*each
	if s.left == 0 {
		s.replies++
	}
	return size
}

// id counts a value and hands it on.
func (s *scanner) id(text []byte) {
	s.values++
	if s.sink == nil {
		return
	}
	if n, ok := number(text); ok {
		s.sink.take(s.replies, n)
	} else {
		s.values--
		s.fail("not an id: " + string(text))
	}
}

// ended ends values, and the reply when they were its last.
func (s *scanner) ended(values int64) {
	if s.left == 0 {
		s.replies += values
		return
	}
	s.left -= values
	if s.left == 0 {
		s.replies++
	}
}

func (s *scanner) fail(text string) {
	s.errors++
	if s.failure == "" {
		s.failure = text
	}
}

// number reads a decimal integer.
func number(p []byte) (n int64, ok bool) {
	digits := p
	if len(p) > 0 && p[0] == '-' {
		digits = p[1:]
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	var u uint64 // 19 digits fit
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		u = u*10 + uint64(c-'0')
	}
	if len(digits) != len(p) {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u < 1<<63
}
