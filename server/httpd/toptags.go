package httpd

// topTags chooses which tags have metrics of their own, so that these stay few. A tag that has them loses them only to one
// of which twice as many ids were drawn. It is not safe for concurrent use.
type topTags struct {
	limit  int
	issued map[string]int64 // of the chosen
	other  int64            // ids drawn of tags while they were not chosen: it only rises

	challenger string // the busiest tag that is not chosen, since the last swap
	drawn      int64  // of it
}

func newTopTags(limit int) topTags { return topTags{limit: max(0, limit), issued: map[string]int64{}} }

// saw takes in how many ids of a tag were drawn, in all and since it was seen last.
func (t *topTags) saw(tag string, issued, drawn int64) {
	_, chosen := t.issued[tag]
	if chosen || len(t.issued) < t.limit {
		t.issued[tag] = issued
		return
	}
	t.other += max(0, drawn)
	if issued > t.drawn {
		t.challenger, t.drawn = tag, issued
	}
}

func (t *topTags) forget(tag string) { delete(t.issued, tag) }

// swap lets the busiest of the others take the place of the least busy of the chosen.
func (t *topTags) swap() {
	least, fewest := "", int64(-1)
	for tag, n := range t.issued {
		if fewest < 0 || n < fewest {
			least, fewest = tag, n
		}
	}
	if fewest >= 0 && t.drawn > 2*fewest && t.drawn > 0 {
		delete(t.issued, least)
		t.issued[t.challenger] = t.drawn
	}
	t.challenger, t.drawn = "", 0
}

// has reports whether the tag has metrics of its own.
func (t *topTags) has(tag string) bool {
	_, chosen := t.issued[tag]
	return chosen
}
