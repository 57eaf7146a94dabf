// Command redleaf-bench loads servers that give out ids, measures them, and compares two of them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit statuses.
const (
	exitFailure = 1 // of the run, and when a server answered with errors or repeated an id
	exitUsage   = 2
)

type commands struct {
	Run     runCmd     `cmd:"" default:"withargs" help:"Load one target."`
	Compare compareCmd `cmd:"" help:"Run short loads of two targets in turn and print the ratio of medians."`
}

// streams are where a command writes: results to out, progress to err.
type streams struct {
	out, err io.Writer
}

func main() {
	// The second signal finds the default handling restored and ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], &streams{out: os.Stdout, err: os.Stderr}))
}

// exited is how kong ends the program after --help.
type exited int

// run is the whole program; it returns the exit status.
func run(ctx context.Context, args []string, to *streams) (status int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exited:
			status = int(p)
		default:
			panic(p)
		}
	}()
	parser, err := newParser(ctx, to)
	if err != nil {
		fmt.Fprintln(to.err, "redleaf-bench:", err)
		return exitFailure
	}
	parsed, err := parser.Parse(args)
	if err == nil {
		err = parsed.Run()
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(to.err, "redleaf-bench:", strings.ReplaceAll(err.Error(), "\n", "; "))
	if _, ok := errors.AsType[*kong.ParseError](err); ok {
		fmt.Fprintln(to.err, "Try: redleaf-bench --help")
		return exitUsage
	}
	return exitFailure
}

func newParser(ctx context.Context, to *streams) (*kong.Kong, error) {
	return kong.New(new(commands),
		kong.Name("redleaf-bench"),
		kong.Description("Loads servers that give out ids and measures them. A target is redis://[USER:PASSWORD@]HOST:PORT, "+
			"rediss://..., unix:///PATH, or http://HOST:PORT/PATH/{tag} for servers that answer with one id as text."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(to.out, to.err),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(to),
	)
}
