package model

import (
	"fmt"
	"strings"
	"time"
)

// A check is one model to be searched.
type check struct {
	protocol, about string
	bounds          string
	run             func(limit int) found

	found
	took time.Duration
}

// do searches.
func (c *check) do(limit int) {
	begun := time.Now()
	c.found = c.run(limit)
	c.took = time.Since(begun)
}

func segmentCheck(about string, m segmentModel) check {
	var kinds strings.Builder
	for _, k := range m.kinds {
		kinds.WriteString(", " + named(k))
	}
	return check{
		protocol: "segments", about: about,
		bounds: fmt.Sprintf("%d nodes, %d starts, %d ids, %d late; refill%s (%d)", m.nodes, m.starts, m.end, m.late, kinds.String(), m.admin),
		run:    func(limit int) found { return search(m.system(), limit) },
	}
}

func windowCheck(about string, m windowModel) check {
	return check{
		protocol: "windows", about: about,
		bounds: fmt.Sprintf("%d nodes, %d starts, %d worker ids, %d ms, %d writes, %d late", m.nodes, m.starts, m.workers, m.end, m.writes, m.late),
		run:    func(limit int) found { return search(m.system(), limit) },
	}
}

func strictCheck(about string, m strictModel) check {
	return check{
		protocol: "strict tags", about: about,
		bounds: fmt.Sprintf("%d nodes, %d starts, %d ticks, a lease of %d, %d ids, %d writes, %d late, renewals %t, leaving %t", m.nodes, m.starts, m.end, strictLease, m.ids, m.writes, m.late, m.renews, m.leaves),
		run:    func(limit int) found { return search(m.system(), limit) },
	}
}

const sound = "as built"

// shallow are the protocols as they are built, in spaces that are searched in seconds.
func shallow() []check {
	return []check{
		segmentCheck(sound, segmentModel{nodes: 2, starts: 2, end: 4, late: 1, kinds: []int8{giveBack}}),
		segmentCheck(sound, segmentModel{nodes: 2, starts: 2, end: 4, late: 1, admin: 1, kinds: []int8{reservation, giveBack}}),
		segmentCheck(sound, segmentModel{nodes: 2, starts: 2, end: 3, late: 1, admin: 2, kinds: []int8{retire}}),
		segmentCheck(sound, segmentModel{nodes: 2, starts: 2, end: 4, late: 0, admin: 2, kinds: []int8{setTo, giveBack}}),
		windowCheck(sound, windowModel{nodes: 2, starts: 2, workers: 1, end: 2, writes: 3, late: 1}),
		windowCheck(sound, windowModel{nodes: 1, starts: 3, workers: 1, end: 3, writes: 5, late: 1}),
		windowCheck(sound, windowModel{nodes: 2, starts: 2, workers: 2, end: 2, writes: 2, late: 1}),
		strictCheck(sound, strictModel{nodes: 2, starts: 2, end: 5, ids: 6, writes: 4}),
		strictCheck(sound, strictModel{nodes: 2, starts: 2, end: 4, ids: 4, writes: 3, renews: true}),
		strictCheck(sound, strictModel{nodes: 2, starts: 2, end: 4, ids: 4, writes: 4, leaves: true}),
		strictCheck(sound, strictModel{nodes: 2, starts: 2, end: 4, ids: 4, writes: 3, late: 1, renews: true, leaves: true}),
	}
}

// deep are larger spaces, for which there is time by hand.
func deep() []check {
	all := []int8{reservation, setTo, retire, giveBack}
	return append(shallow(),
		segmentCheck(sound, segmentModel{nodes: 3, starts: 4, end: 5, late: 1, kinds: []int8{giveBack}}),
		segmentCheck(sound, segmentModel{nodes: 3, starts: 3, end: 5, late: 1, admin: 1, kinds: []int8{reservation, giveBack}}),
		segmentCheck(sound, segmentModel{nodes: 2, starts: 3, end: 5, late: 2, admin: 2, kinds: []int8{reservation, giveBack}}),
		segmentCheck(sound, segmentModel{nodes: 2, starts: 2, end: 5, late: 1, admin: 4, kinds: []int8{retire}}),
		segmentCheck(sound, segmentModel{nodes: 3, starts: 3, end: 4, late: 1, admin: 2, kinds: []int8{retire, giveBack}}),
		segmentCheck(sound, segmentModel{nodes: 2, starts: 3, end: 5, late: 1, admin: 2, kinds: []int8{setTo, giveBack}}),
		segmentCheck(sound, segmentModel{nodes: 3, starts: 3, end: 4, late: 0, admin: 2, kinds: all}),
		segmentCheck(sound, segmentModel{nodes: 2, starts: 2, end: 5, late: 1, admin: 2, kinds: all}),
		windowCheck(sound, windowModel{nodes: 2, starts: 3, workers: 1, end: 4, writes: 4, late: 1}),
		windowCheck(sound, windowModel{nodes: 3, starts: 3, workers: 1, end: 3, writes: 3, late: 1}),
		windowCheck(sound, windowModel{nodes: 2, starts: 3, workers: 1, end: 3, writes: 5, late: 2}),
		windowCheck(sound, windowModel{nodes: 2, starts: 2, workers: 2, end: 3, writes: 4, late: 1}),
		windowCheck(sound, windowModel{nodes: 3, starts: 3, workers: 2, end: 2, writes: 3, late: 0}),
		strictCheck(sound, strictModel{nodes: 2, starts: 3, end: 6, ids: 6, writes: 5}),
		strictCheck(sound, strictModel{nodes: 3, starts: 3, end: 5, ids: 6, writes: 4}),
		strictCheck(sound, strictModel{nodes: 2, starts: 2, end: 5, ids: 6, writes: 5, late: 1, leaves: true}),
		strictCheck(sound, strictModel{nodes: 2, starts: 2, end: 6, ids: 4, writes: 4, renews: true}),
		strictCheck(sound, strictModel{nodes: 2, starts: 3, end: 5, ids: 6, writes: 4, late: 1, renews: true, leaves: true}),
	)
}

// variants are protocols that must not be built, in spaces small enough that each is found out in a moment.
func variants() []check {
	return []check{
		segmentCheck("a give-back that is sent again when its reply is lost", segmentModel{nodes: 2, starts: 3, end: 2, kinds: []int8{giveBack}, variant: giveBackTwice}),
		segmentCheck("a give-back computed while ids are still drawn", segmentModel{nodes: 2, starts: 2, end: 2, kinds: []int8{giveBack}, variant: giveBackWhileServing}),
		segmentCheck("INCRBY's lease beside a refill in flight", segmentModel{nodes: 1, starts: 1, end: 5, admin: 1, kinds: []int8{reservation}, variant: leaseBesideRefill}),
		segmentCheck("SET beside a refill in flight", segmentModel{nodes: 1, starts: 1, end: 5, admin: 1, kinds: []int8{setTo}, variant: setBesideRefill}),
		segmentCheck("DEL that reads the row and then deletes it", segmentModel{nodes: 2, starts: 2, end: 4, admin: 2, kinds: []int8{retire}, variant: deleteWithoutLock}),
		segmentCheck("creation at a value that the client read before", segmentModel{nodes: 2, starts: 2, end: 3, admin: 3, kinds: []int8{retire}, missing: true, variant: createAtReadMark}),
		segmentCheck("a row that went back raised to what one node knows", segmentModel{nodes: 2, starts: 2, end: 8, variant: healByOwnMark}),
		segmentCheck("a store that loses acknowledged writes, without the nodes' agreement", segmentModel{nodes: 2, starts: 2, end: 4, variant: loseAcknowledgedIntegers}),
		windowCheck("compare-and-set on until_ms alone, and a release that is sent again", windowModel{nodes: 1, starts: 3, workers: 1, end: 3, writes: 5, late: 1, variant: compareMarks}),
		windowCheck("a row adopted because the owner's name is in it", windowModel{nodes: 1, starts: 2, workers: 1, end: 3, writes: 2, variant: adoptByOwner}),
		windowCheck("an extension that may move back", windowModel{nodes: 1, starts: 2, workers: 1, end: 4, writes: 3, variant: moveBack}),
		windowCheck("a release while a call is in flight", windowModel{nodes: 2, starts: 2, workers: 1, end: 3, writes: 3, variant: releaseWhileServing}),
		windowCheck("the release of an unused window writes 0", windowModel{nodes: 1, starts: 3, workers: 1, end: 4, writes: 5, variant: unusedToZero}),
		windowCheck("rows are deleted when their windows have passed", windowModel{nodes: 1, starts: 2, workers: 1, end: 4, writes: 2, variant: deleteRows}),
		windowCheck("a store that loses acknowledged writes, without the nodes' agreement", windowModel{nodes: 1, starts: 2, workers: 1, end: 3, writes: 2, variant: loseAcknowledgedWindows}),
		strictCheck("another node that takes the tag without waiting", strictModel{nodes: 2, starts: 2, end: 1, ids: 4, writes: 3, variant: takeAtOnce}),
		strictCheck("a lease that counts from the reply", strictModel{nodes: 2, starts: 2, end: 6, ids: 6, writes: 6, variant: countFromReply}),
		strictCheck("a node that does not ask its clock", strictModel{nodes: 2, starts: 2, end: 4, ids: 4, writes: 3, variant: askNoClock}),
		strictCheck("a node that draws from what it had when it takes the tag again", strictModel{nodes: 2, starts: 2, end: 7, ids: 4, writes: 4, variant: keepIDs}),
		strictCheck("a tag left to others by the holder's name alone", strictModel{nodes: 2, starts: 2, end: 1, ids: 8, writes: 6, late: 1, leaves: true, variant: leaveByName}),
		strictCheck("a renewal that counts without a look at the row", strictModel{nodes: 2, starts: 2, end: 3, ids: 4, writes: 3, renews: true, variant: renewUnseen}),
	}
}
