package torture

import (
	"slices"
	"sort"
	"sync"
)

// span is n consecutive ids.
type span struct{ first, n int64 }

func (s span) end() int64 { return s.first + s.n }

// spans collects ids in the order in which they come.
type spans []span

func (s *spans) add(first, n int64) {
	if last := len(*s) - 1; last >= 0 && (*s)[last].end() == first {
		(*s)[last].n += n
		return
	}
	*s = append(*s, span{first, n})
}

// books are all ids that clients received, by what they were drawn from.
type books struct {
	mu         sync.Mutex // protects everything below
	kinds      map[string][]span
	ids        int64 // received
	duplicates int64
}

// enter takes ids in and counts those that were there.
func (b *books) enter(kind string, received spans) {
	if len(received) == 0 {
		return
	}
	slices.SortFunc(received, func(a, b span) int {
		if a.first < b.first {
			return -1
		}
		return 1
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.kinds[kind]
	// Most ids are above all that are known: only the end of the list is rebuilt.
	at := sort.Search(len(known), func(i int) bool { return known[i].end() >= received[0].first })
	tail := slices.Clone(known[at:])
	merged := known[:at]
	for len(tail) > 0 || len(received) > 0 {
		var next span
		if len(received) == 0 || len(tail) > 0 && tail[0].first <= received[0].first {
			next, tail = tail[0], tail[1:]
		} else {
			next, received = received[0], received[1:]
			b.ids += next.n
		}
		merged = b.append(merged, next)
	}
	b.kinds[kind] = merged
}

// append adds a span that starts at or after the last one's start.
func (b *books) append(all []span, next span) []span {
	if len(all) == 0 || all[len(all)-1].end() < next.first {
		return append(all, next)
	}
	last := &all[len(all)-1]
	b.duplicates += max(0, min(last.end(), next.end())-next.first)
	last.n = max(last.end(), next.end()) - last.first
	return all
}

// counts returns how many ids there are, and how many of them were received again.
func (b *books) counts() (ids, duplicates int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ids, b.duplicates
}

// skipped returns how many integers of the tags lie between the ids received.
func (b *books) skipped(isTag func(kind string) bool) (n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for kind, all := range b.kinds {
		if isTag(kind) && len(all) > 0 {
			n += all[len(all)-1].end() - 1
			for _, s := range all {
				n -= s.n
			}
		}
	}
	return n
}
