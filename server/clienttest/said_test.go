//go:build clients

package clienttest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
)

// said is what a program printed.
type said struct {
	version string
	ids     []drawn // in the order of drawing
	refusal string  // the text of an unknown command's error
	ready   bool    // for the server to go away
	failed  int     // draws that failed meanwhile
	example string  // how the last of them failed
	done    bool
	after   int // ids drawn after ready
}

// drawn is one id of a kind: own, shared or snowflake.
type drawn struct {
	kind string
	id   int64
}

// listen reads what a program prints to its end, and calls outage when the program is ready for it.
func listen(from io.Reader, outage func()) (*said, error) {
	s := &said{}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if err := s.hear(word, rest); err != nil {
			return s, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		if word == "ready" {
			outage()
		}
	}
	return s, lines.Err()
}

func (s *said) hear(word, rest string) error {
	switch word {
	case "version":
		s.version = rest
	case "own", "shared", "snowflake":
		return s.hearID(word, rest, 1)
	case "block":
		return s.hearID("own", rest, 1000)
	case "error":
		s.refusal = rest
	case "ready":
		s.ready = true
	case "failed":
		number, example, _ := strings.Cut(rest, " ")
		failed, err := strconv.Atoi(number)
		s.failed, s.example, s.done = failed, example, true
		return err
	default:
		return fmt.Errorf("unknown word %q", word)
	}
	return nil
}

// hearID notes the n ids that end with the one given.
func (s *said) hearID(kind, text string, n int64) error {
	last, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return err
	}
	for id := last - n + 1; id <= last; id++ {
		s.ids = append(s.ids, drawn{kind, id})
	}
	if s.ready {
		s.after++
	}
	return nil
}

// check says what is missing or out of order.
func (s *said) check(t *testing.T) {
	t.Helper()
	counts, last := map[string]int{}, map[string]int64{}
	for _, d := range s.ids {
		counts[d.kind]++
		if d.id <= last[d.kind] {
			t.Fatalf("%s id %d was drawn after %d", d.kind, d.id, last[d.kind])
		}
		last[d.kind] = d.id
	}
	counts["shared"] -= s.after
	// INCR, INCRBY 1000, the transaction and LPOP; the pipeline; GET and LPOP.
	for kind, want := range map[string]int{"own": 1 + 1000 + 100 + 1000, "shared": 10000, "snowflake": 1 + 1000} {
		if counts[kind] != want {
			t.Errorf("%d %s ids before the outage, want %d", counts[kind], kind, want)
		}
	}
	if s.after < 10 || !s.done {
		t.Errorf("%d ids after the first %d, finished %v: it did not come back after the outage", s.after, len(s.ids)-s.after, s.done)
	}
	if want := "unknown command 'REDLEAFNOPE', with args beginning with: 'a'"; !strings.Contains(s.refusal, want) {
		t.Errorf("the unknown command's error is %q, want %q in it", s.refusal, want)
	}
}

// ledger knows who drew an id of a server.
type ledger map[drawn]bool

// add enters the ids that a client drew and returns how many were there already. Ids of kind own are of the client's tag.
func (l ledger) add(tag string, ids []drawn) (duplicates int) {
	for _, d := range ids {
		if d.kind == "own" {
			d.kind = "own " + tag
		}
		if l[d] {
			duplicates++
		}
		l[d] = true
	}
	return duplicates
}
