//go:build clients

package clienttest

import (
	"fmt"
	"os"
	"strings"
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

type summary struct{ rows []*result }

// add makes a client's rows, one a mode. With an error there is nothing to run.
func (s *summary) add(client string, modes []mode, err error) []*result {
	outcome := ""
	if err != nil {
		outcome = "not run: " + firstLine(err.Error())
	}
	var rows []*result
	for _, m := range modes {
		rows = append(rows, &result{client: client, mode: m.name, outcome: outcome})
	}
	s.rows = append(s.rows, rows...)
	return rows
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

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
