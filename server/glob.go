package server

// glob matches as Redis's KEYS does: * ? [abc] [^a] [a-z] and a backslash before what is meant literally. Bytes, not
// characters. Its work is bounded by the product of the lengths.
func glob(pattern, s string) bool {
	p, i := 0, 0
	star, mark := -1, 0 // after the last *: where to go on in the pattern, and how far s is given to it
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, mark = p, i
			continue
		}
		if size, ok := globOne(pattern[p:], s[i]); ok {
			p += size
			i++
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		p, i = star, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// globOne matches one byte with the pattern's first element, which has the given size.
func globOne(pattern string, b byte) (size int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	switch {
	case pattern[0] == '?':
		return 1, true
	case pattern[0] == '[':
		return globClass(pattern, b)
	case pattern[0] == '\\' && len(pattern) > 1:
		return 2, pattern[1] == b
	}
	return 1, pattern[0] == b
}

// globClass matches [...]; one that is not closed ends with the pattern.
func globClass(pattern string, b byte) (size int, ok bool) {
	i, negated := 1, false
	if i < len(pattern) && pattern[i] == '^' {
		i, negated = i+1, true
	}
	for i < len(pattern) && pattern[i] != ']' {
		lo := pattern[i]
		switch {
		case lo == '\\' && i+1 < len(pattern):
			lo = pattern[i+1]
			ok = ok || lo == b
			i += 2
		case i+2 < len(pattern) && pattern[i+1] == '-':
			hi := pattern[i+2]
			ok = ok || min(lo, hi) <= b && b <= max(lo, hi)
			i += 3
		default:
			ok = ok || lo == b
			i++
		}
	}
	return min(i+1, len(pattern)), ok != negated
}
