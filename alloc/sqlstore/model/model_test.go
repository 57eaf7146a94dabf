package model

import (
	"flag"
	"strings"
	"testing"
)

// limits of states that are looked at.
const (
	quickLimit = 1_000_000
	deepLimit  = 12_000_000
)

func TestMain(m *testing.M) {
	flag.String("model.doc", "", "file for the report: larger spaces are searched then, which takes minutes")
	flag.Parse()
	m.Run()
}

func doc() string { return flag.Lookup("model.doc").Value.String() }

// What is built repeats no id, issues none outside what is owned, and keeps the order, in every state of the models.
func TestSound(t *testing.T) {
	checks, limit := shallow(), quickLimit
	if doc() != "" {
		checks, limit = deep(), deepLimit
	}
	for i := range checks {
		c := &checks[i]
		c.do(limit)
		t.Logf("%s: %s: %d states, depth %d, all %t, %v", c.protocol, c.bounds, c.states, c.depth, c.all, c.took)
		if c.broken != "" {
			t.Errorf("%s: %s: %s:\n%s", c.protocol, c.bounds, c.broken, strings.Join(c.witness, "\n"))
		}
		if doc() == "" && !c.all {
			t.Errorf("%s: %s: only %d states were looked at", c.protocol, c.bounds, c.states)
		}
	}
	if doc() != "" {
		found := variants()
		for i := range found {
			found[i].do(deepLimit)
		}
		if err := writeDoc(doc(), checks, found); err != nil {
			t.Error(err)
		}
	}
}

// Each protocol that must not be built is found to break an invariant: the models see what they are for.
func TestVariants(t *testing.T) {
	for _, c := range variants() {
		c.do(quickLimit)
		if c.broken == "" {
			t.Errorf("%s: %s: nothing found in %d states", c.protocol, c.about, c.states)
		}
		t.Logf("%s: %s: %s after %d states, %d steps", c.protocol, c.about, c.broken, c.states, len(c.witness))
	}
}
