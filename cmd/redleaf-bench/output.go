package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"redleaf/bench"
)

// outputFlags are the forms of a result besides the table.
type outputFlags struct {
	JSON string `name:"json" placeholder:"FILE" help:"Write the results as JSON; - means to standard output, instead of the table."`
	SVG  string `name:"svg" placeholder:"FILE" help:"Draw latency by percentile and throughput by depth."`
	HTML string `name:"html" placeholder:"FILE" help:"The same with the table, as a page that needs nothing else."`
}

// write writes the results in the forms that are asked for: table for people, value as JSON, series as plots.
func (f *outputFlags) write(to io.Writer, table func(io.Writer) error, value any, series []bench.Series) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if f.JSON == "-" {
		_, err = to.Write(text)
	} else {
		err = errors.Join(table(to), toFile(f.JSON, func(out io.Writer) error { return writeAll(out, text) }))
	}
	return errors.Join(err,
		toFile(f.SVG, func(out io.Writer) error {
			svg, err := bench.BothSVG(series)
			if err != nil {
				return err
			}
			return writeAll(out, svg)
		}),
		toFile(f.HTML, func(out io.Writer) error { return bench.WriteHTML(out, "redleaf-bench", series) }))
}

func writeAll(out io.Writer, text []byte) error {
	_, err := out.Write(text)
	return err
}

// toFile writes a file that is asked for.
func toFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// complaints returns what went wrong in runs that came to their end.
func complaints(results []bench.Result) error {
	var errs []error
	for _, r := range results {
		if r.Failure != "" {
			errs = append(errs, fmt.Errorf("%s answered %d times with an error, first: %s", r.Target, max(1, r.Errors), r.Failure))
		}
	}
	return errors.Join(errs...)
}
