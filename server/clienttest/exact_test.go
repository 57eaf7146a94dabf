//go:build clients

package clienttest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestJavaScriptExact compares the ids that JavaScript got, and took apart by itself, with redleaf decode.
func TestJavaScriptExact(t *testing.T) {
	dir, err := node().prepare(t.Context())
	need(t, err)
	for _, kind := range []struct {
		name   string
		layout []string
	}{{"strings", nil}, {"numbers", []string{"--bits", "js53"}}} {
		s := serve(t, "", kind.layout...)
		for _, library := range []string{"ioredis", "redis", "redis4"} {
			t.Run(kind.name+"/"+library, func(t *testing.T) {
				got := exact(t, dir, s.addr, library, kind.name)
				if len(got.ids) != 2000 {
					t.Fatalf("%d ids, want 2000", len(got.ids))
				}
				got.compare(t, kind.layout)
				// Without an id that a number can't hold the strings would have shown nothing.
				if kind.name == "strings" && (got.rounded == 0 || !strings.Contains(got.refused, "53 bits")) {
					t.Errorf("%d ids would have been rounded; INCR was refused with %q", got.rounded, got.refused)
				}
			})
		}
	}
}

// parts are an id and what it is made of, as JavaScript saw it.
type parts struct{ id, time, worker, sequence string }

type exactly struct {
	ids     []parts
	rounded int    // ids that a JavaScript number can't hold
	refused string // the error of INCR
}

// exact runs exact.mjs.
func exact(t *testing.T, dir, addr, library, kind string) *exactly {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := client{run: []string{"node", "exact.mjs", library, kind}}
	cmd := c.command(ctx, dir, addr, "")
	cmd.Env = append(cmd.Env, "REDLEAF_TAG=exact")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, complaint(err))
	}
	got := &exactly{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		switch words[0] {
		case "id":
			ms, err := strconv.ParseInt(words[2], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			at := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
			got.ids = append(got.ids, parts{words[1], at, words[3], words[4]})
		case "rounded":
			fmt.Sscan(words[1], &got.rounded)
		case "refused":
			got.refused = line
		default:
			t.Fatalf("unexpected line %q", line)
		}
	}
	return got
}

// complaint is what a program wrote to standard error.
func complaint(err error) string {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(exit.Stderr)
	}
	return ""
}

// compare asks redleaf about all ids at once. Two ids that were rounded to one, or one that was rounded to another,
// would show as a repetition or as a time that has not come.
func (e *exactly) compare(t *testing.T, layout []string) {
	t.Helper()
	args := append([]string{"decode"}, layout...)
	seen := map[parts]bool{}
	for _, id := range e.ids {
		args = append(args, id.id)
		seen[id] = true
	}
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		t.Fatalf("redleaf decode: %v\n%s", err, complaint(err))
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")[1:]
	if len(lines) != len(e.ids) || len(seen) != len(e.ids) {
		t.Fatalf("%d ids, %d different, %d decoded", len(e.ids), len(seen), len(lines))
	}
	for i, line := range lines {
		words := strings.Fields(line)
		if want := (parts{words[0], words[1], words[2], words[3]}); e.ids[i] != want {
			t.Fatalf("JavaScript has %+v, redleaf decode %+v", e.ids[i], want)
		}
		if at, err := time.Parse(time.RFC3339, words[1]); err != nil || time.Since(at).Abs() > time.Minute {
			t.Fatalf("id %s is of %s: %v", words[0], words[1], err)
		}
	}
}
