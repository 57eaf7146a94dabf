package main

import (
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
)

type decodeCmd struct {
	IDs []string `arg:"" name:"id" help:"Snowflake ids, decimal."`
	layoutFlags
}

// Run prints what each id is made of.
func (c *decodeCmd) Run(to *streams) error {
	layout, err := c.layout()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(to.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tTIME\tWORKER\tSEQUENCE")
	for _, s := range c.IDs {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a decimal 64-bit id: %w", s, errors.Unwrap(err))
		}
		parts, err := layout.Decode(id)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\n", id, parts.Time.Format("2006-01-02T15:04:05.000Z07:00"), parts.Worker, parts.Sequence)
	}
	return w.Flush()
}
