package main

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"
)

func TestAdvertiseGuess(t *testing.T) {
	for _, tt := range []struct {
		given, listen string
		warns         bool
	}{
		{"", "127.0.0.1:0", false},
		{"db1.example:7000", "0.0.0.0:0", false},
		{"", "0.0.0.0:0", true},
		{"", "[::]:0", true},
	} {
		l, err := net.Listen("tcp", tt.listen)
		if err != nil {
			t.Skip("no IPv6 here:", err)
		}
		defer l.Close()
		var log bytes.Buffer
		addr := clusterFlags{Advertise: tt.given}.address([]net.Listener{l}, "mysql://u@127.0.0.1/db", slog.New(slog.NewTextHandler(&log, nil)))
		if isWildcard(addr) || tt.given != "" && addr != tt.given {
			t.Errorf("%+v: told %s", tt, addr)
		}
		_, port, _ := net.SplitHostPort(addr)
		_, listening, _ := net.SplitHostPort(l.Addr().String())
		if tt.given == "" && port != listening {
			t.Errorf("%+v: told %s, listening on %s", tt, addr, l.Addr())
		}
		if warned := strings.Contains(log.String(), "--advertise is not given"); warned != tt.warns {
			t.Errorf("%+v: log %q", tt, log.String())
		}
	}
}

func TestClusterFlags(t *testing.T) {
	tcp := listenFlags{Listen: "127.0.0.1:0"}
	for _, tt := range []struct {
		f    clusterFlags
		l    listenFlags
		says string
	}{
		{clusterFlags{Cluster: true}, tcp, ""},
		{clusterFlags{Cluster: true, Advertise: "[fe80::1]:6379"}, tcp, ""},
		{clusterFlags{Cluster: true, Advertise: "0.0.0.0:6379"}, tcp, "clients can't connect to it"},
		{clusterFlags{Sentinel: "m", Advertise: ":6379"}, tcp, "clients can't connect to it"},
		{clusterFlags{Advertise: "0.0.0.0:6379"}, tcp, ""},
		{clusterFlags{Cluster: true}, listenFlags{UnixSocket: "x"}, "only a Unix socket"},
		{clusterFlags{Cluster: true, Sentinel: "m"}, tcp, "give one of them"},
		{clusterFlags{Sentinel: "a b"}, tcp, "without spaces"},
	} {
		err := tt.f.check(tt.l)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
