package bench

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	const ms = time.Millisecond
	// 1,000 requests a second over 4 connections: each sends every 4 ms, connection 2 at 2 ms, 6 ms and so on.
	p := paceOf(1000, 4, 2)
	for _, tt := range []struct {
		name    string
		elapsed time.Duration
		sent    int64
		most    int
		n       int
		wait    time.Duration
	}{
		{"before the first", 0, 0, 10, 0, 2 * ms},
		{"just before", 2*ms - 1, 0, 10, 0, 1},
		{"the first is due", 2 * ms, 0, 10, 1, 0},
		{"sent it", 2 * ms, 1, 10, 0, 4 * ms},
		{"between", 5 * ms, 1, 10, 0, ms},
		{"two are due", 6 * ms, 0, 10, 2, 0},
		{"late by many", 42 * ms, 1, 100, 10, 0},
		{"late by more than a batch", 42 * ms, 1, 4, 4, 0},
		{"ahead", 2 * ms, 3, 10, 0, 12 * ms},
	} {
		if n, wait := p.next(tt.elapsed, tt.sent, tt.most); n != tt.n || wait != tt.wait {
			t.Errorf("%s: send %d, wait %v; want %d, %v", tt.name, n, wait, tt.n, tt.wait)
		}
	}
	if got := p.missed(42*ms, 5); got != 5 {
		t.Errorf("missed %d, want 5", got)
	}
	if got := p.missed(42*ms, 10) + p.missed(ms, 0); got != 0 {
		t.Errorf("missed %d, want none", got)
	}
}

func TestPaceWithoutRate(t *testing.T) {
	p := paceOf(0, 8, 3)
	if n, wait := p.next(0, 1e9, 16); n != 16 || wait != 0 || p.open() {
		t.Errorf("send %d, wait %v", n, wait)
	}
	if p.missed(time.Hour, 0) != 0 {
		t.Error("without a rate nothing is missed")
	}
}

// What is sent when it is due comes to the rate, and never early.
func TestPaceSteps(t *testing.T) {
	for _, rate := range []float64{1, 3, 700, 12_345, 1e6} {
		p := paceOf(rate, 3, 1)
		var sent int64
		var now time.Duration
		for now < time.Second {
			n, wait := p.next(now, sent, 1<<20)
			for i := range int64(n) {
				if at := p.at(sent + i); at > now {
					t.Fatalf("rate %v: request %d is due at %v and sent at %v", rate, sent+i, at, now)
				}
			}
			sent += int64(n)
			now += max(wait, time.Millisecond)
		}
		if missed := p.missed(now, sent); missed > int64(rate)/100+1 {
			t.Errorf("rate %v: %d missed", rate, missed)
		}
		if diff := float64(sent) - rate/3; diff > rate/100+1 || diff < -rate/100-1 {
			t.Errorf("rate %v: %d of a third sent in a second", rate, sent)
		}
	}
}
