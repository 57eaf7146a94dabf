//go:build clients

package clienttest

import (
	"fmt"
	"os"
	"text/tabwriter"
)

// result is one row of the summary.
type result struct {
	client, mode, version string
	connected             bool
	ids, duplicates       int
	failed                int    // draws that failed around the restart
	example               string // how the last of them failed
	outcome               string
}

type summary struct{ rows []result }

func (s *summary) add(row result) { s.rows = append(s.rows, row) }

// print writes the table to standard output.
func (s *summary) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CLIENT\tMODE\tVERSION\tCONNECTED\tIDS\tDUPLICATES\tFAILED IN RESTART\tRESULT\tLAST FAILURE")
	for _, r := range s.rows {
		connected := "no"
		if r.connected {
			connected = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n",
			r.client, r.mode, r.version, connected, r.ids, r.duplicates, r.failed, r.outcome, short(r.example))
	}
	w.Flush()
}

// short keeps the table a table.
func short(text string) string {
	if words := []rune(text); len(words) > 60 {
		return string(words[:60]) + "..."
	}
	return text
}
