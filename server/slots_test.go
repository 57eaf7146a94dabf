package server

import (
	"fmt"
	"slices"
	"testing"
)

// ownersOf returns who owns each slot when split divides them.
func ownersOf(names []string) (all [slotCount]string) {
	for _, r := range splitSlots(names) {
		for slot := r.lo; slot <= r.hi; slot++ {
			all[slot] = names[r.owner]
		}
	}
	return all
}

// sortedSplit is the simplest division: one range for each node, in order.
func sortedSplit(names []string) (all [slotCount]string) {
	for slot := range all {
		all[slot] = names[slot*len(names)/slotCount]
	}
	return all
}

func movedSlots(a, b [slotCount]string) (n int) {
	for slot := range a {
		if a[slot] != b[slot] {
			n++
		}
	}
	return n
}

func nodeNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("10.0.%d.%d:6379", i/7, i*37%251))
	}
	slices.Sort(names)
	return names
}

func TestSplitIsEven(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 10, 100, 1000} {
		names := nodeNames(n)
		count := map[string]int{}
		for slot, owner := range ownersOf(names) {
			if owner == "" {
				t.Fatalf("%d nodes: nobody owns slot %d", n, slot)
			}
			count[owner]++
		}
		for name, slots := range count {
			if slots < slotCount/n || slots > slotCount/n+1 {
				t.Errorf("%d nodes: %s owns %d slots", n, name, slots)
			}
		}
		if len(count) != n {
			t.Errorf("%d of %d nodes own slots", len(count), n)
		}
	}
}

// When one node of n comes or goes 1/n of the slots must move. Measured: about 1/n + 0.05, where one range per node in
// order moves half of all.
func TestSplitIsStable(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 6, 10, 20, 50, 100} {
		names := nodeNames(n)
		all, allSorted := ownersOf(names), sortedSplit(names)
		worst, worstSorted := 0, 0
		for gone := range names {
			rest := slices.Delete(slices.Clone(names), gone, gone+1)
			worst = max(worst, movedSlots(all, ownersOf(rest)))
			worstSorted = max(worstSorted, movedSlots(allSorted, sortedSplit(rest)))
		}
		t.Logf("%d nodes: %d ranges, at most %.3f of the slots move, at least %.3f must; in order %.3f",
			n, len(splitSlots(names)), float64(worst)/slotCount, 1/float64(n), float64(worstSorted)/slotCount)
		if most := slotCount/n + slotCount*8/100; worst > most {
			t.Errorf("%d nodes: %d slots move, more than %d", n, worst, most)
		}
	}
}
