package main

import (
	"fmt"
	"strings"
)

// markdown is the list as a page, after all that is run has passed.
func (l *caseList) markdown() string {
	var b strings.Builder
	run, left := l.count()
	fmt.Fprintf(&b, `# Redis's own test suite

`+"`make test-redis`"+` runs the units of Redis 7.0.15's test suite that concern a server of ids: **%d cases pass, %d are left
out**, each for a reason named below. A case that is run and fails makes the target fail, and so does one that the list
does not know. This page is written by the run itself, from `+"`server/redistest/cases.txt`"+`.

The suite comes from Debian's source package (pinned by its SHA-256) and runs as against any external server. Three lines of
that copy are changed: it does not send FLUSHALL and FUNCTION FLUSH before each block, which redleaf refuses (each unit gets
a new redleaf instead), and `+"unit/auth"+` gets its password from `+"`--requirepass`"+` rather than from CONFIG SET. redleaf runs
with `+"`--bare-keys`"+`, since the suite's keys have no `+"`segment:`"+` before them, and with `+"`--step 1`"+`, since the suite sets counters to
values close to each other. A unit named twice below is run against two servers, for a case needs a counter anew.

## Passed

| unit | cases |
| --- | --- |
`, run, left)
	for _, s := range l.sections {
		if names := s.names(""); len(names) > 0 {
			fmt.Fprintf(&b, "| %s | %s |\n", s.title(), strings.Join(names, "<br>"))
		}
	}
	b.WriteString("\n## Left out\n")
	for _, r := range l.reasons {
		fmt.Fprintf(&b, "\n%s:\n\n", r.text)
		for _, s := range l.sections {
			for _, name := range s.names(r.word) {
				fmt.Fprintf(&b, "- %s: %s\n", s.unit, name)
			}
		}
	}
	return b.String()
}

// title is the unit with the flags that matter to its cases.
func (s section) title() string {
	if i := strings.Index(strings.Join(s.args, " "), "--requirepass"); i >= 0 {
		return s.unit + ", with a password"
	}
	return s.unit
}

// names are the cases left out for the reason, or those that are run, in Markdown.
func (s section) names(reason string) []string {
	var names []string
	for _, c := range s.cases {
		if c.reason == reason {
			names = append(names, strings.NewReplacer("|", `\|`, "`", "").Replace(c.name))
		}
	}
	return names
}
