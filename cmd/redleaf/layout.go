package main

import (
	"fmt"

	"redleaf/snowflake"
)

// layoutFlags describe how snowflake ids are put together.
type layoutFlags struct {
	Epoch int64  `default:"1288834974657" placeholder:"MS" help:"Snowflake timestamp 0, in Unix milliseconds (default: ${default}, as Leaf and Twitter)."`
	Bits  string `default:"41,10,12" placeholder:"T,W,S" help:"Snowflake bits of time, worker and sequence, at most 63 together; js53 is 41,5,7, whose ids JavaScript numbers hold exactly (default: ${default})."`
}

func (f layoutFlags) layout() (snowflake.Layout, error) {
	l, err := snowflake.ParseBits(f.Bits, f.Epoch)
	if err != nil {
		return l, fmt.Errorf("--bits/--epoch: %w", err)
	}
	return l, nil
}
