package main

import (
	"regexp"
	"strings"
)

// passed is the verdict on a case that went well; any other is the suite's complaint.
const passed = "ok"

// parseOutput returns the verdict on each case that the suite's output tells of.
func parseOutput(out string) map[string]string {
	var (
		took   = regexp.MustCompile(` \(\d+ ms\)$`)
		failed = regexp.MustCompile(`^(.*) in tests/unit/\S+\.tcl$`)
		seen   = make(map[string]string)
		last   string // the case that the lines now read complain about
	)
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "!!! WARNING") {
			break // a summary of what was said before
		}
		kind, rest, _ := strings.Cut(line, ": ")
		switch kind {
		case "[ok]":
			seen[took.ReplaceAllString(rest, "")], last = passed, ""
		case "[err]":
			last = rest
			if m := failed.FindStringSubmatch(rest); m != nil {
				last = m[1]
			}
			seen[last] = ""
		case "[exception]", "[TIMEOUT]":
			last = kind
			seen[last] = rest
		case "[skip]", "[ignore]", "[testing]", "[ready]", "[1/1 done]":
			last = ""
		default:
			if last != "" && strings.TrimSpace(line) != "" {
				seen[last] += line + "\n"
			}
		}
	}
	return seen
}
