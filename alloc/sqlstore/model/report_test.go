package model

import (
	"fmt"
	"os"
	"strings"
	"time"
)

const intro = `# The models of the protocols

Written by ` + "`make model`" + `. Segments lease ranges of integers, windows lease ranges of milliseconds, and strict tags the right
to draw; all are small enough to be searched state by state ([alloc/sqlstore/model](../alloc/sqlstore/model)). A step of a model is one thing that happens: a node sends a statement, the
store carries it out, the reply comes or is lost, the node gives up, a statement that was given up is carried out late (at most so
many at a time), an id is issued, a process crashes, stops or starts, a clock goes on or is set back. All orders of these
steps are looked at, within the bounds named. Three things must hold in every state: no id twice, no id outside a range that the
store granted to that process, rising ids of a tag on one node. With strict tags: an id that is above all that were drawn before, anywhere.

What is left out: making a tag strict, and the nodes' agreement after a failover, without which a store that loses acknowledged writes
repeats ids, as the second table shows (docs/failover.md). The database's clock is left out on purpose, and a node's clock says whatever
it likes: nothing may rest on them. With strict tags it may stand still for a node that is paused, and goes on at one speed for all
that are not: who takes a tag waits a tenth longer than the lease because real clocks differ in speed.

## As built

| protocol | bounds | states | steps to the farthest | all states | broken | time |
| --- | --- | ---: | ---: | --- | --- | ---: |
`

const middle = `
"Late" are statements carried out after their node has given up; the number in brackets bounds how many INCRBYs, SETs, DELs and
creations there are. Where not all states were looked at, those up to one step fewer than the farthest were.

## What must not be built

Each of these breaks an invariant. The trace is one of the shortest.

| protocol | variant | broken | steps | states looked at |
| --- | --- | --- | ---: | ---: |
`

// writeDoc writes docs/model.md.
func writeDoc(file string, built, variants []check) error {
	var b strings.Builder
	b.WriteString(intro)
	for _, c := range built {
		all, broken := "yes", c.broken
		if !c.all {
			all = "no"
		}
		if broken == "" {
			broken = "nothing"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s | %s | %v |\n", c.protocol, c.bounds, c.states, c.depth, all, broken, c.took.Round(time.Second/10))
	}
	b.WriteString(middle)
	for _, c := range variants {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d |\n", c.protocol, c.about, c.broken, len(c.witness), c.states)
	}
	for _, c := range variants {
		fmt.Fprintf(&b, "\n<details><summary>%s: %s</summary>\n\n", c.protocol, c.about)
		for i, s := range c.witness {
			fmt.Fprintf(&b, "%d. %s\n", i+1, s)
		}
		fmt.Fprintf(&b, "\nBroken: %s.\n\n</details>\n", c.broken)
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}
