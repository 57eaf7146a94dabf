package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// A suite is what all measurements need.
type suite struct {
	redleaf, bench string // paths of the programs
	dir            string // for the servers' data
	out            string // folder that RESULTS.md and the plots are written to

	pairs    int
	duration time.Duration // of one run
	rounds   int           // of what is not a comparison
	skip     string        // "micro": without micro-benchmarks
	cost     string        // page that the cost of many nodes is written into; "": RESULTS.md is written
	fleets   []int         // numbers of nodes whose cost is measured
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.SetFlags(0)
	if err := run(ctx); err != nil {
		stop()
		log.Fatal("suite: ", err)
	}
}

func run(ctx context.Context) (err error) {
	s := new(suite)
	flag.StringVar(&s.redleaf, "redleaf", "bin/redleaf", "the server's program")
	flag.StringVar(&s.bench, "bench", "bin/redleaf-bench", "the load generator's program")
	flag.StringVar(&s.out, "out", "bench", "folder of RESULTS.md and plots/")
	flag.IntVar(&s.pairs, "pairs", 5, "runs of each side of a comparison")
	flag.DurationVar(&s.duration, "duration", time.Second, "length of a run")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds of what is measured without a pair")
	flag.StringVar(&s.skip, "skip", "", "micro: leave the micro-benchmarks out")
	flag.StringVar(&s.cost, "cost", "", "measure instead what many nodes cost their database, into this page")
	fleets := flag.String("fleets", "1,10,100,300", "for that, numbers of nodes")
	flag.Parse()
	if s.fleets, err = parseFleets(*fleets); err != nil {
		return err
	}
	if flag.NArg() > 0 || s.pairs < 1 || s.rounds < 1 {
		return errors.New("see -help")
	}
	for _, path := range []*string{&s.redleaf, &s.bench} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if s.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	if s.cost != "" {
		return s.measureCost(ctx)
	}
	began := time.Now()
	r, err := s.measure(ctx)
	if err != nil {
		return err
	}
	r.Took = time.Since(began).Round(time.Second)
	if err := s.write(r); err != nil {
		return err
	}
	log.Printf("wrote %s after %v", filepath.Join(s.out, "RESULTS.md"), r.Took)
	return nil
}

// measure takes every measurement.
func (s *suite) measure(ctx context.Context) (*results, error) {
	r := &results{Pairs: s.pairs, Duration: s.duration}
	for _, part := range []struct {
		name string
		take func(context.Context, *results) error
	}{
		{"machine", s.machine},
		{"comparisons", s.comparisons},
		{"segment switches", s.switches},
		{"cold starts", s.coldStarts},
		{"idle connections", s.idle},
		{"micro-benchmarks", s.micro},
	} {
		log.Print("measuring: ", part.name)
		if err := part.take(ctx, r); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return r, nil
}
