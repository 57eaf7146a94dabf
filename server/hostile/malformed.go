package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// repeats is how often each malformed input is sent, on a new connection each time.
const repeats = 200

// An input is a row of the table of framing limits.
type input struct {
	name, raw string
	want      string // the whole reply, "" for none or an error; the connection must be closed after it
}

// protocolError is the reply to what can't be understood.
func protocolError(text string) string { return "-ERR Protocol error: " + text + "\r\n" }

const pong = "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nQUIT\r\n" // what follows inputs after which the connection goes on

func inputs() []input {
	multibulk, bulk := protocolError("invalid multibulk length"), protocolError("invalid bulk length")
	return []input{
		{"`*` count above 1,024 x 1,024", "*1048577\r\n", multibulk},
		{"`*` count that overflows", "*-9223372036854775809\r\n", multibulk},
		{"`*` count that is not a number", "*many\r\n", multibulk},
		{"`*` count 0 or below", "*0\r\n*-10\r\n" + pong, "+PONG\r\n+OK\r\n"},
		{"`*1048576` and arguments, never ending", "*1048576\r\n" + strings.Repeat("$1\r\na\r\n", 200_000), bulk},
		{"`$` length negative", "*2\r\n$4\r\nECHO\r\n$-2\r\n", bulk},
		{"`$` length not a number", "*1\r\n$four\r\n", bulk},
		{"`$` length that overflows", "*1\r\n$9223372036854775807\r\n", bulk},
		{"`$` length above 512 MB", "*2\r\n$4\r\nECHO\r\n$536870913\r\n", bulk},
		{"a request above --max-request", "*2\r\n$4\r\nECHO\r\n$1048577\r\n" + strings.Repeat("x", 1<<20), bulk},
		{"`*+1`", "*+1\r\n$4\r\nPING\r\n", multibulk},
		{"`$+4`", "*1\r\n$+4\r\nPING\r\n", bulk},
		{"a space in a length", "*1\r\n$ 4\r\nPING\r\n", bulk},
		{"a request that starts with `$`", "$9223372036854775807 PING\r\n", bulk},
		{"not `$` where one is due", "*1\r\nfoo\r\n", protocolError("expected '$', got 'f'")},
		{"an inline line above 64 KB", strings.Repeat("a", 65<<10), protocolError("too big inline request")},
		{"unbalanced quotes", "ECHO \"a\r\n", protocolError("unbalanced quotes in request")},
		{"`POST`", "POST / HTTP/1.1\r\nHost: localhost\r\n\r\nINCR segment:good\r\n", ""},
		{"`Host:`", "Host: localhost\r\n\r\nINCR segment:good\r\n", ""},
		{"a TLS hello on the plain port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", ""},
	}
}

// malformed sends each input many times.
func malformed(v *victim, good *goodClient, report *strings.Builder) error {
	fmt.Fprintf(report, "## Malformed input\n\nEach sent %d times, on a new connection each time; every time the answer was the one shown, and the\n"+
		"connection was closed after it. Resident memory of the process, in MiB.\n\n"+
		"| input | answer | before | after | most |\n| --- | --- | --- | --- | --- |\n", repeats)
	good.rest()
	for _, in := range inputs() {
		if err := sendMany(v, in, report); err != nil {
			return err
		}
	}
	fmt.Fprintf(report, "\nThe good client meanwhile: %s.\n\n", good.describe(good.mark()))
	return nil
}

// beforeAuth sends what is limited before AUTH to a redleaf with a password.
func beforeAuth(v *victim, _ *goodClient, report *strings.Builder) error {
	locked, err := newVictim(v.binary, v.dir, "--requirepass", "secret", "--store", "sqlite:locked.db")
	if err != nil {
		return err
	}
	defer locked.close()
	fmt.Fprintf(report, "Before AUTH, on a redleaf with a password:\n\n| input | answer | before | after | most |\n| --- | --- | --- | --- | --- |\n")
	for _, in := range []input{
		{"more than 10 arguments", "*11\r\n$4\r\nECHO\r\n", protocolError("unauthenticated multibulk length")},
		{"an argument above 16,384 bytes", "*2\r\n$4\r\nAUTH\r\n$16385\r\n", protocolError("unauthenticated bulk length")},
	} {
		if err := sendMany(locked, in, report); err != nil {
			return err
		}
	}
	fmt.Fprintln(report)
	return nil
}

func sendMany(v *victim, in input, report *strings.Builder) error {
	u := v.usage()
	u.resetPeak()
	before := u.now()
	for range repeats {
		got, err := v.exchange(in.raw)
		if err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
		refused := in.want == "" && strings.HasPrefix(got, "-ERR")
		if got != in.want && !refused {
			return fmt.Errorf("%s: got %.200q, want %.200q and the connection closed", in.name, got, in.want)
		}
	}
	fmt.Fprintf(report, "| %s | %s | %.1f | %.1f | %.1f |\n", in.name, answer(in.want), mib(before), mib(u.now()), mib(u.peak()))
	return nil
}

// exchange sends raw and returns all that comes until the server closes.
func (v *victim) exchange(raw string) (string, error) {
	conn, err := v.dial()
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(dialTimeout))
	_, _ = io.WriteString(conn, raw) // the server may have closed before the end of it
	got, err := io.ReadAll(conn)
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "", fmt.Errorf("the connection was not closed after %.100q", got)
	}
	return string(got), nil
}

func answer(reply string) string {
	if reply == "" {
		return "closed, nothing executed"
	}
	return "`" + strings.ReplaceAll(strings.TrimSuffix(reply, "\r\n"), "\r\n", " ") + "`"
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }
