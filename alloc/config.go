package alloc

import (
	"cmp"
	"log/slog"
	"time"
)

// Config configures an Allocator. Zero values mean the defaults named.
type Config struct {
	AutoCreate       bool          // an unknown tag is created by its first draw
	Step             int64         // step of a tag that Draw, Reserve or Set creates; 1000
	MaxStep          int64         // cap of the step rule; 1,000,000
	MaxTags          int64         // bound of automatic creation; 100,000
	MaxBatch         int64         // largest Draw or Reserve; 1,000,000
	Wait             time.Duration // how long a call may wait for a segment; 1 s
	SegmentDuration  time.Duration // how long a segment should last, target of the step rule; 15 min
	StatementTimeout time.Duration // deadline of one store call; 2 s
	Refresh          time.Duration // how often rows are read again; 60 s
	Logger           *slog.Logger  // nowhere

	// StrictWait has every call for a strict tag that another node holds wait for it to let go. Without it, once one call has
	// waited in vain, others are refused at once for a while: where nothing sends them to the right node, that is likely to last.
	StrictWait bool
}

func (c Config) withDefaults() Config {
	c.Step = cmp.Or(c.Step, 1000)
	c.MaxStep = cmp.Or(c.MaxStep, 1_000_000)
	c.MaxTags = cmp.Or(c.MaxTags, 100_000)
	c.MaxBatch = cmp.Or(c.MaxBatch, 1_000_000)
	c.Wait = cmp.Or(c.Wait, time.Second)
	c.SegmentDuration = cmp.Or(c.SegmentDuration, 15*time.Minute)
	c.StatementTimeout = cmp.Or(c.StatementTimeout, 2*time.Second)
	c.Refresh = cmp.Or(c.Refresh, time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) stepRule() stepRule { return stepRule{cap: c.MaxStep, target: c.SegmentDuration} }
