package server

import (
	"slices"
	"strconv"
)

// appendIntRun appends n integer replies, of the ids from first on. Digits are counted up in place: that is a fraction of the
// work of writing each number anew.
func appendIntRun(b []byte, first, n int64) []byte {
	for n > 0 {
		var buf [24]byte
		line := append(buf[:0], ':')
		line = strconv.AppendInt(line, first, 10)
		line = append(line, '\r', '\n')
		k := min(n, untilLonger(first))
		b = appendCounting(b, line, len(line)-3, k)
		first, n = first+k, n-k
	}
	return b
}

// appendBulkIntRun appends n bulk strings, of the ids from first on.
func appendBulkIntRun(b []byte, first, n int64) []byte {
	for n > 0 {
		var buf [32]byte
		line := appendBulkInt(buf[:0], first)
		k := min(n, untilLonger(first))
		b = appendCounting(b, line, len(line)-3, k)
		first, n = first+k, n-k
	}
	return b
}

// untilLonger returns how many numbers from n (1 or more) on have as many digits as n.
func untilLonger(n int64) int64 {
	limit := int64(10)
	for limit <= n {
		if limit > 1e17 { // the next would overflow; nobody asks for so many ids
			return 1e18
		}
		limit *= 10
	}
	return limit - n
}

// appendCounting appends the line k times, each with the decimal number that ends at index last one higher than before. The
// number must not grow longer.
func appendCounting(b, line []byte, last int, k int64) []byte {
	b = slices.Grow(b, int(k)*len(line))
	for ; k >= 10 && line[last] == '0'; k -= 10 { // ten at a time: only the last digit differs
		for d := byte('0'); d <= '9'; d++ {
			line[last] = d
			b = append(b, line...)
		}
		line[last] = '0'
		carry(line, last-1)
	}
	for ; k > 0; k-- {
		b = append(b, line...)
		if line[last] < '9' {
			line[last]++
			continue
		}
		line[last] = '0'
		carry(line, last-1)
		if k > 10 {
			return appendCounting(b, line, last, k-1)
		}
	}
	return b
}

// carry adds one to the number that ends at index i.
func carry(line []byte, i int) {
	for line[i] == '9' {
		line[i] = '0'
		i--
	}
	line[i]++ // past the first digit only after the last number that was asked for
}
