// Command redleaf serves unique 64-bit ids over the Redis protocol, and explains them.
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
	exitFailure = 1
	exitUsage   = 2
)

type commands struct {
	Serve   serveCmd   `cmd:"" help:"Serve ids over the Redis protocol."`
	Decode  decodeCmd  `cmd:"" help:"Show the time, worker and sequence of snowflake ids."`
	Schema  schemaCmd  `cmd:"" help:"Print the statements that create the tables."`
	Recover recoverCmd `cmd:"" help:"After a database failover that may have lost writes, or a restored backup: have every tag skip a gap, and nodes lease again."`
	Nodes   nodesCmd   `cmd:"" help:"List the nodes that share a store."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// streams are where a command writes: results to out, logs to err.
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
		fmt.Fprintln(to.err, "redleaf:", err)
		return exitFailure
	}
	parsed, err := parser.Parse(args)
	if err == nil {
		err = parsed.Run()
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(to.err, "redleaf:", strings.ReplaceAll(err.Error(), "\n", "; "))
	if _, ok := errors.AsType[*kong.ParseError](err); ok {
		fmt.Fprintln(to.err, "Try: redleaf --help")
		return exitUsage
	}
	return exitFailure
}

func newParser(ctx context.Context, to *streams) (*kong.Kong, error) {
	return kong.New(new(commands),
		kong.Name("redleaf"),
		kong.Description("Unique 64-bit ids over the Redis protocol. Every flag can also be set by an environment "+
			"variable: REDLEAF_ and the flag's name, as in REDLEAF_STORE."),
		kong.DefaultEnvars("REDLEAF"),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(to.out, to.err),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(to),
	)
}
