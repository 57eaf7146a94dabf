package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"redleaf/bench"
)

// loadFlags are what a single run and both sides of a comparison share.
type loadFlags struct {
	Workload    string        `default:"incr" enum:"incr,incrby,get,mget,lpop,mixed" placeholder:"NAME" help:"incr, incrby, get, mget, lpop, or mixed: incr of 10 tags in turn (default: ${default})."`
	Key         string        `placeholder:"KEY" help:"Key that ids are drawn from (default: snowflake:bench for get and mget, segment:bench for others)."`
	Tags        int           `placeholder:"N" help:"Draw from N keys in turn: KEY0, KEY1 and so on (default: 1, with mixed 10)."`
	Count       int           `default:"100" placeholder:"N" help:"Ids of one incrby, mget or lpop (default: ${default})."`
	Connections int           `short:"c" default:"8" placeholder:"N" help:"Connections (default: ${default})."`
	Duration    time.Duration `short:"d" default:"5s" placeholder:"TIME" help:"What is measured (default: ${default})."`
	Warmup      time.Duration `default:"500ms" placeholder:"TIME" help:"Load before that (default: ${default})."`
	Client      string        `default:"own" enum:"own,go-redis" placeholder:"NAME" help:"own, or go-redis for what an ordinary client gets (default: ${default})."`
	CA          string        `name:"ca" type:"existingfile" placeholder:"FILE" help:"Certificates (PEM) that rediss:// and https:// targets are trusted by, besides the system's."`
	Insecure    bool          `help:"Trust any certificate."`
}

// load turns the flags into a load of a target, at one depth.
func (f *loadFlags) load(target string, depth int) (bench.Load, error) {
	if depth < 1 || f.Connections < 1 || f.Count < 1 || f.Duration <= 0 { // which a Load takes for its defaults
		return bench.Load{}, errors.New("--depth, --connections, --count and --duration: want more than 0")
	}
	t, err := bench.ParseTarget(target)
	if err != nil {
		return bench.Load{}, err
	}
	if t.TLS != nil {
		t.TLS.InsecureSkipVerify = f.Insecure
		if t.TLS.RootCAs, err = f.roots(); err != nil {
			return bench.Load{}, err
		}
	}
	return bench.Load{
		Target: t, Client: f.Client, Workload: f.Workload, Key: f.Key, Tags: f.Tags, Count: f.Count,
		Connections: f.Connections, Depth: depth, Duration: f.Duration, Warmup: f.Warmup,
	}, nil
}

// roots returns the certificates to trust; nil means the system's.
func (f *loadFlags) roots() (*x509.CertPool, error) {
	if f.CA == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate", f.CA)
	}
	return pool, nil
}
