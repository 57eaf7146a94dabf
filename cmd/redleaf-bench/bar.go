package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"redleaf/bench"
)

// A bar shows how far the work is, on a terminal and nowhere else.
type bar struct {
	shown *progressbar.ProgressBar // nil: not a terminal
	name  string
}

func newBar(out io.Writer, name string) *bar {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &bar{}
	}
	return &bar{name: name, shown: progressbar.NewOptions64(1,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(name),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
	)}
}

// update shows a run's progress and its speed.
func (b *bar) update(p bench.Progress) {
	if b.shown == nil {
		return
	}
	b.shown.ChangeMax64(int64(p.Total / time.Millisecond))
	b.shown.Describe(fmt.Sprintf("%s: %s ids/s", b.name, bench.Rounded(p.IDsPerSecond)))
	// It fails where the terminal can't be written to, and then there is nobody to tell.
	_ = b.shown.Set64(min(int64(p.Elapsed/time.Millisecond), int64(p.Total/time.Millisecond)-1))
}

// part shows that so many of the parts are done.
func (b *bar) part(done, total int) {
	if b.shown == nil {
		return
	}
	b.shown.ChangeMax(total)
	_ = b.shown.Set(min(done, total-1))
}

// end takes the bar away.
func (b *bar) end() {
	if b.shown != nil {
		_ = b.shown.Clear()
		b.shown = nil
	}
}
