package server

import (
	"bytes"
	"cmp"
	"hash/fnv"
	"slices"
)

// Redis Cluster divides keys into slots.
const slotCount = 16384

// blockSlots is how many neighbouring slots stay together as far as possible: fewer, and CLUSTER SLOTS becomes long.
const blockSlots = 128

// crc16 is the checksum of Redis Cluster: polynomial 0x1021, most significant bit first.
func crc16(b []byte) (crc uint16) {
	for _, x := range b {
		crc = crc<<8 ^ crcOfByte(byte(crc>>8)^x)
	}
	return crc
}

// crcOfByte is the checksum of one byte, without a table: the polynomial is sparse.
func crcOfByte(x byte) uint16 {
	v := uint16(x ^ x>>4)
	return v ^ v<<5 ^ v<<12
}

// keySlot returns a key's slot. When something stands between the first { and the } that follows it, that alone decides.
func keySlot(key []byte) int {
	if open := bytes.IndexByte(key, '{'); open >= 0 {
		if n := bytes.IndexByte(key[open+1:], '}'); n > 0 {
			key = key[open+1 : open+1+n]
		}
	}
	return int(crc16(key)) % slotCount
}

// slotRange is slots lo to hi and the node that owns them, by its place in a list.
type slotRange struct{ lo, hi, owner int }

// bid is how much a node wants a block: a hash of both, so that all nodes come to the same result without a word.
type bid struct {
	weight      uint64
	block, node int
}

// splitSlots divides all slots over the nodes of these names: equally, to one slot, and so that few slots move when a
// node comes or goes. Blocks go to the highest bids first, and a node bids until it has its share. The result depends on
// nothing but the names.
func splitSlots(names []string) []slotRange {
	spare := shares(len(names))
	taken := make([]int, slotCount/blockSlots) // slots of each block that are given away
	var ranges []slotRange
	for _, b := range bids(names) {
		n := min(spare[b.node], blockSlots-taken[b.block])
		if n == 0 {
			continue
		}
		lo := b.block*blockSlots + taken[b.block]
		ranges = append(ranges, slotRange{lo, lo + n - 1, b.node})
		spare[b.node] -= n
		taken[b.block] += n
	}
	return joinRanges(ranges)
}

// shares returns how many slots each of n nodes gets.
func shares(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = slotCount / n
		if i < slotCount%n {
			all[i]++
		}
	}
	return all
}

// bids returns all nodes' bids for all blocks, the highest first.
func bids(names []string) []bid {
	all := make([]bid, 0, len(names)*slotCount/blockSlots)
	for node, name := range names {
		for block := range slotCount / blockSlots {
			all = append(all, bid{weight(name, block), block, node})
		}
	}
	slices.SortFunc(all, func(a, b bid) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.block, b.block), cmp.Compare(a.node, b.node))
	})
	return all
}

func weight(name string, block int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	h.Write([]byte{0, byte(block), byte(block >> 8)})
	return mix(h.Sum64())
}

// mix spreads a hash over all its bits.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// joinRanges sorts the ranges and makes one of neighbours with the same owner.
func joinRanges(ranges []slotRange) []slotRange {
	slices.SortFunc(ranges, func(a, b slotRange) int { return cmp.Compare(a.lo, b.lo) })
	joined := ranges[:0]
	for _, r := range ranges {
		if n := len(joined); n > 0 && joined[n-1].owner == r.owner {
			joined[n-1].hi = r.hi
			continue
		}
		joined = append(joined, r)
	}
	return joined
}
