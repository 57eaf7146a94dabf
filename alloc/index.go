package alloc

import (
	"maps"
	"sync"
	"sync/atomic"
)

// index finds tags by name. Names are added and never removed. Those added a while ago are found without a lock: it
// costs a draw as much as its own. The zero value is empty. Safe for concurrent use.
type index struct {
	settled atomic.Pointer[map[string]*tag] // a copy of all, maybe an old one; never written to

	mu     sync.Mutex // protects everything below
	all    map[string]*tag
	misses int // since the copy was made: names found in all only
}

// get returns the tag, nil if there is none.
func (x *index) get(name []byte) *tag {
	if m := x.settled.Load(); m != nil {
		if t := (*m)[string(name)]; t != nil {
			return t
		}
	}
	return x.getNew(name)
}

// getNew looks among the names added since the copy was made. A new copy is made when looking has cost about as much as
// copying does.
func (x *index) getNew(name []byte) *tag {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.all[string(name)]
	if t == nil {
		return nil
	}
	if x.misses++; x.misses >= len(x.all) {
		m := maps.Clone(x.all)
		x.settled.Store(&m)
		x.misses = 0
	}
	return t
}

// add puts a tag in, unless there is one of the name, and returns the one that is there.
func (x *index) add(t *tag) *tag {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = map[string]*tag{}
	}
	if there := x.all[t.name]; there != nil {
		return there
	}
	x.all[t.name] = t
	return t
}

// list returns the tags, in no order.
func (x *index) list() []*tag {
	x.mu.Lock()
	defer x.mu.Unlock()
	tags := make([]*tag, 0, len(x.all))
	for _, t := range x.all {
		tags = append(tags, t)
	}
	return tags
}
