package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A testCase is one case of the suite. It is run when it has no reason to be left out.
type testCase struct{ name, reason string }

// fault is the reason that says that redleaf is wrong: such cases are run to be told when they pass.
const fault = "fault"

func (c testCase) isRun() bool { return c.reason == "" || c.reason == fault }

// A section is cases of one unit, run against one redleaf.
type section struct {
	unit  string
	args  []string // of redleaf serve
	cases []testCase
}

// caseList is what cases.txt says.
type caseList struct {
	sections []section
	reasons  []reason
}

type reason struct{ word, text string }

// readList reads lines `reason WORD TEXT`, `unit UNIT [ARGUMENT ...]`, and for each case `run NAME` or `WORD NAME`.
func readList(path string) (*caseList, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list := new(caseList)
	for i, line := range strings.Split(string(raw), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := list.add(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	return list, nil
}

func (l *caseList) add(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "reason":
		word, text, _ := strings.Cut(rest, " ")
		l.reasons = append(l.reasons, reason{word, text})
	case word == "unit":
		f := strings.Fields(rest)
		l.sections = append(l.sections, section{unit: f[0], args: f[1:]})
	case len(l.sections) == 0:
		return fmt.Errorf("a case outside a unit")
	case word == "run":
		l.addCase(testCase{name: rest})
	case l.text(word) == "":
		return fmt.Errorf("reason %q is not explained", word)
	default:
		l.addCase(testCase{name: rest, reason: word})
	}
	return nil
}

func (l *caseList) addCase(c testCase) {
	s := &l.sections[len(l.sections)-1]
	s.cases = append(s.cases, c)
}

// text is what a reason's word stands for.
func (l *caseList) text(word string) string {
	for _, r := range l.reasons {
		if r.word == word {
			return r.text
		}
	}
	return ""
}

// leftOut names the cases of the section's unit that the section does not run.
func (l *caseList) leftOut(s section) []string {
	var names []string
	for _, other := range l.sections {
		for _, c := range other.cases {
			if other.unit == s.unit && !s.runs(c.name) {
				names = append(names, c.name)
			}
		}
	}
	return names
}

func (s section) runs(name string) bool {
	return slices.ContainsFunc(s.cases, func(c testCase) bool { return c.name == name && c.isRun() })
}

// allBut names all cases of the unit but one.
func (l *caseList) allBut(unit, name string) []string {
	var names []string
	for _, s := range l.sections {
		for _, c := range s.cases {
			if s.unit == unit && c.name != name {
				names = append(names, c.name)
			}
		}
	}
	return names
}

func (l *caseList) count() (run, left int) {
	for _, s := range l.sections {
		for _, c := range s.cases {
			if c.reason == "" {
				run++
			} else {
				left++
			}
		}
	}
	return run, left
}

// matches reports a case of the suite that the list does not have. Names with a variable in them are seen when they run.
func (l *caseList) matches(suite string) error {
	literal := regexp.MustCompile(`(?m)^\s*test (?:\{(.*)\} \{|"([^"$]*)" \{)`)
	for _, s := range l.sections {
		raw, err := os.ReadFile(filepath.Join(suite, "tests", s.unit+".tcl"))
		if err != nil {
			return err
		}
		listed := l.allBut(s.unit, "")
		for _, m := range literal.FindAllStringSubmatch(string(raw), -1) {
			if name := m[1] + m[2]; !slices.Contains(listed, name) {
				return fmt.Errorf("%s: the list lacks %q", s.unit, name)
			}
		}
	}
	return nil
}

// check compares what ran with what the section says.
func (s section) check(seen map[string]string) []error {
	var wrong []error
	for _, c := range s.cases {
		verdict, ran := seen[c.name]
		delete(seen, c.name)
		switch {
		case !c.isRun():
		case !ran:
			wrong = append(wrong, fmt.Errorf("%s: %q was not run", s.unit, c.name))
		case c.reason == fault && verdict == passed:
			wrong = append(wrong, fmt.Errorf("%s: %q passes and is no fault any more: mark it as run", s.unit, c.name))
		case c.reason == "" && verdict != passed:
			wrong = append(wrong, fmt.Errorf("%s: %q failed: %s", s.unit, c.name, verdict))
		}
	}
	for name, verdict := range seen {
		wrong = append(wrong, fmt.Errorf("%s: not in the list: %q: %s", s.unit, name, verdict))
	}
	return wrong
}
