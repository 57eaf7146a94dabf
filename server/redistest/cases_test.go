package main

import (
	"fmt"
	"strings"
	"testing"
)

const output = `[ready]: 4711
[testing]: passes
[ok]: passes (3 ms)
[skip]: left out
[err]: fails: badly in tests/unit/x.tcl
Expected 'a' to be equal to 'b'

[ok]: a fault (0 ms)
[1/1 done]: unit/x (1 seconds)
!!! WARNING The following tests failed:
*** [err]: fails: badly in tests/unit/x.tcl
`

func TestCheck(t *testing.T) {
	list := new(caseList)
	for _, line := range []string{
		"reason types no lists", "reason fault known", "unit unit/x --step 1",
		"run passes", "run fails: badly", "run never ran", "types left out", "fault a fault",
	} {
		if err := list.add(line); err != nil {
			t.Fatal(err)
		}
	}
	s := list.sections[0]
	if got := list.leftOut(s); len(got) != 1 || got[0] != "left out" {
		t.Errorf("left out: %q", got)
	}
	got := fmt.Sprint(s.check(parseOutput("[ok]: unheard of (1 ms)\n" + output)))
	for _, want := range []string{
		`"fails: badly" failed: Expected 'a' to be equal to 'b'`, `"never ran" was not run`, `"a fault" passes`,
		`not in the list: "unheard of"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if strings.Contains(got, `"passes"`) || strings.Contains(got, "left out") {
		t.Errorf("%s: too much", got)
	}
	if err := list.add("word unexplained"); err == nil {
		t.Error("a reason that is not explained was taken")
	}
}
