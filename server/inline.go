package server

import (
	"errors"
	"strconv"
)

func isOutOfRange(err error) bool { return errors.Is(err, strconv.ErrRange) }

// splitInline splits a request typed by hand into arguments, with the quoting rules of Redis's sdssplitargs: "..." knows
// \n \r \t \b \a \xHH and backslashed characters, '...' knows \'. A closing quote must be followed by a space or the end.
func splitInline(line []byte, args [][]byte) ([][]byte, error) {
	args = args[:0]
	for i := 0; ; {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		if i == len(line) {
			return args, nil
		}
		arg, next, ok := inlineArg(line, i)
		if !ok {
			return nil, errQuotes
		}
		args = append(args, arg)
		i = next
	}
}

// inlineArg reads the argument that starts at i and returns where it ends.
func inlineArg(line []byte, i int) (arg []byte, next int, ok bool) {
	arg = []byte{}
	for i < len(line) && !isSpace(line[i]) {
		if c := line[i]; c == '"' || c == '\'' {
			arg, i, ok = quoted(line, i+1, c, arg)
			if !ok || i < len(line) && !isSpace(line[i]) {
				return nil, 0, false
			}
			return arg, i, true
		}
		arg = append(arg, line[i])
		i++
	}
	return arg, i, true
}

// quoted reads up to the closing quote.
func quoted(line []byte, i int, quote byte, arg []byte) ([]byte, int, bool) {
	for i < len(line) {
		switch c := line[i]; {
		case c == quote:
			return arg, i + 1, true
		case c == '\\' && quote == '\'' && i+1 < len(line) && line[i+1] == '\'':
			arg = append(arg, '\'')
			i += 2
		case c == '\\' && quote == '"' && i+1 < len(line):
			b, size := escaped(line[i+1:])
			arg = append(arg, b)
			i += 1 + size
		default:
			arg = append(arg, c)
			i++
		}
	}
	return nil, 0, false
}

// escaped reads what follows a backslash: at least one byte.
func escaped(s []byte) (b byte, size int) {
	if s[0] == 'x' && len(s) >= 3 {
		if n, err := strconv.ParseUint(string(s[1:3]), 16, 8); err == nil {
			return byte(n), 3
		}
	}
	switch s[0] {
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'b':
		return '\b', 1
	case 'a':
		return '\a', 1
	}
	return s[0], 1
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' || c == 0 }
