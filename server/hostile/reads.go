package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// neverReads sends 10 million requests in one pipeline and reads no reply.
func neverReads(v *victim, good *goodClient, report *strings.Builder) error {
	const requests, chunk = 10_000_000, 1000
	conn, err := v.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	u := v.usage()
	u.resetPeak()
	good.rest()
	before, start := u.now(), time.Now()
	conn.SetDeadline(start.Add(time.Minute))
	request := []byte("*2\r\n$4\r\nINCR\r\n$15\r\nsegment:unread1\r\n")
	raw, sent := bytes.Repeat(request, chunk), 0
	for sent < requests*len(request) {
		n, err := conn.Write(raw)
		sent += n
		if err != nil {
			break
		}
	}
	cut := time.Since(start)
	after, err := settle(v)
	if err != nil {
		return err
	}
	fmt.Fprintf(report, "## Clients that never read\n\nOne client pipelined INCRs, 10,000,000 to be sent, and read nothing: the server stopped reading after %d of them\n"+
		"and closed the connection after %v. Memory: before %s, most %s, after %s. The good client: %s.\n\n",
		sent/len(request), cut.Round(100*time.Millisecond), mb(before), mb(u.peak()), mb(after), good.describe(good.mark()))
	if sent >= requests*len(request) {
		return fmt.Errorf("all requests of a client that never reads were taken")
	}
	return nil
}

// largeReplies are clients that ask for a million ids each and read nothing.
func largeReplies(v *victim, good *goodClient, report *strings.Builder) error {
	const clients, leasing = 60, 50 * time.Millisecond
	const wait = 13 * time.Second // longer than the write deadline
	// Ids enough, so that it is the memory that is fought for.
	if _, err := v.exchange("SET segment:unread2 0\r\nHSET segment:unread2 step 1000000\r\nINCRBY segment:unread2 1000000\r\nQUIT\r\n"); err != nil {
		return err
	}
	conns, err := connect(v.Addr, clients)
	defer closeAll(conns)
	if err != nil {
		return err
	}
	u := v.usage()
	u.resetPeak()
	good.rest()
	before := u.now()
	for _, conn := range conns {
		conn.SetDeadline(time.Now().Add(wait))
		if _, err := io.WriteString(conn, "LPOP segment:unread2 1000000\r\n"); err != nil {
			return err
		}
		time.Sleep(leasing)
	}
	time.Sleep(wait)
	during, peak := good.mark(), u.peak()
	cut, refused, waited := endings(conns)
	closeAll(conns) // those refused are still welcome
	after, err := settle(v)
	if err != nil {
		return err
	}
	if cut == 0 || refused == 0 {
		return fmt.Errorf("large replies: %d clients were cut off, %d refused for want of memory, %d waited in vain for ids", cut, refused, waited)
	}
	fmt.Fprintf(report, "%d clients asked for a reply of 1,000,000 ids each (LPOP) and read nothing: %d were cut off in the middle of it, %d were told at\n"+
		"once that too many large replies are being sent, %d got no segment in time. Memory: before %s, most %s, after %s. The good client: %s.\n\n",
		clients, cut, refused, waited, mb(before), mb(peak), mb(after), good.describe(during))
	return nil
}

// endings reads what each connection still gets, and counts those that were cut, those that were refused for want of
// memory, and those that waited in vain for ids.
func endings(conns []net.Conn) (cut, refused, waited int) {
	var (
		mu   sync.Mutex // protects the results
		done sync.WaitGroup
	)
	for _, conn := range conns {
		done.Go(func() {
			conn.SetDeadline(time.Now().Add(time.Second))
			start := make([]byte, 40)
			n, _ := io.ReadFull(conn, start) // what there is says enough
			got := string(start[:n])
			mu.Lock()
			defer mu.Unlock()
			switch {
			case strings.HasPrefix(got, "-TRYAGAIN too many large replies"):
				refused++
			case strings.HasPrefix(got, "-TRYAGAIN no segment"):
				waited++
			default:
				cut++
			}
		})
	}
	done.Wait()
	return cut, refused, waited
}

// settle waits until only the good client is connected besides the one that asks, and returns the memory then.
func settle(v *victim) (int64, error) {
	for end := time.Now().Add(dialTimeout); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		got, err := v.info("connected_clients")
		if err != nil {
			return 0, err
		}
		if got == "2" {
			return v.usage().now(), nil
		}
	}
	return 0, fmt.Errorf("connections of attackers are still open")
}
