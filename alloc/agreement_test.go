package alloc

import (
	"testing"
	"time"
)

// Every move of the agreement, from what a node knows and what the server shows.
func TestNextMove(t *testing.T) {
	const began = int64(1_000_000)
	done := func(server string, term int64) Record { return Record{Server: server, Term: term, Began: began} }
	open := func(server string, term int64) Record {
		return Record{Server: server, Term: term, Began: began, Open: true}
	}
	knows := func(server string, term int64) knowledge {
		return knowledge{server: server, agreed: done(server, term).agreement()}
	}
	raised := func(k knowledge, r Record) knowledge {
		k.raised = r.agreement()
		return k
	}
	suspects := func(k knowledge) knowledge {
		k.suspect = true
		return k
	}
	later := began + 60_000
	for _, tt := range []struct {
		name   string
		policy Policy
		k      knowledge
		v      View
		want   move
	}{
		{"first start", PolicyGap, knowledge{}, View{Server: "a"}, moveFirst},
		{"start", PolicyGap, knowledge{}, View{Server: "a", Record: done("a", 1)}, moveAdopt},
		{"start during an agreement", PolicyGap, knowledge{}, View{Server: "a", Record: open("a", 2), Now: later}, moveAwait},
		{"start on another server", PolicyGap, knowledge{}, View{Server: "b", Record: done("a", 1)}, moveOrphan},
		{"start on another server, stop", PolicyStop, knowledge{}, View{Server: "b", Record: done("a", 1)}, moveOrphan},
		{"start on another server, trust", PolicyTrust, knowledge{}, View{Server: AnyServer, Record: done("a", 1)}, moveTrust},
		{"start again, trust", PolicyTrust, knowledge{}, View{Server: AnyServer, Record: done(AnyServer, 2)}, moveAdopt},
		{"start after trust", PolicyGap, knowledge{}, View{Server: "a", Record: done(AnyServer, 2)}, moveFirst},
		{"nothing new", PolicyGap, knows("a", 1), View{Server: "a", Record: done("a", 1)}, moveServe},
		{"another server", PolicyGap, knows("a", 1), View{Server: "b", Record: done("a", 1)}, moveBegin},
		{"another server, stop", PolicyStop, knows("a", 1), View{Server: "b", Record: done("a", 1)}, moveHalt},
		{"trust does not look", PolicyTrust, knows(AnyServer, 1), View{Server: AnyServer, Record: done("b", 4)}, moveServe},
		{"record lost with the tail", PolicyGap, knows("a", 1), View{Server: "b"}, moveBegin},
		{"record deleted", PolicyGap, knows("a", 1), View{Server: "a"}, moveBegin},
		{"went backwards", PolicyGap, suspects(knows("a", 1)), View{Server: "a", Record: done("a", 1)}, moveBegin},
		{"went backwards, stop", PolicyStop, suspects(knows("a", 1)), View{Server: "a", Record: done("a", 1)}, moveHalt},
		{"agreement begun elsewhere", PolicyGap, knows("a", 1), View{Server: "b", Record: open("b", 2), Now: later}, moveRaise},
		{"agreement begun elsewhere, stop", PolicyStop, knows("a", 1), View{Server: "b", Record: open("b", 2), Now: later}, moveRaise},
		{"agreement begun elsewhere, trust", PolicyTrust, knows(AnyServer, 1), View{Server: AnyServer, Record: open("b", 2), Now: later}, moveRaise},
		{"raised, too early", PolicyGap, raised(knows("a", 1), open("b", 2)), View{Server: "b", Record: open("b", 2), Now: began + 100}, moveAwait},
		{"raised, nobody missing", PolicyGap, raised(knows("a", 1), open("b", 2)), View{Server: "b", Record: open("b", 2), Now: later}, moveSkip},
		{"raised for a term of the same number elsewhere", PolicyGap, raised(knows("a", 1), open("c", 2)), View{Server: "b", Record: open("b", 2), Now: later}, moveRaise},
		{"the end", PolicyGap, raised(knows("a", 1), done("b", 2)), View{Server: "b", Record: done("b", 2)}, moveAdopt},
		{"late", PolicyGap, knows("a", 1), View{Server: "b", Record: done("b", 2)}, moveRaise},
		{"late, stop", PolicyStop, knows("a", 1), View{Server: "b", Record: done("b", 2)}, moveRaise},
		{"an old server came back", PolicyGap, knows("b", 2), View{Server: "a", Record: done("a", 1)}, moveBegin},
		{"recovered to a term of the same number", PolicyStop, raised(knows("a", 2), done("b", 2)), View{Server: "b", Record: done("b", 2)}, moveAdopt},
		{"two servers were agreed on", PolicyGap, knows("c", 2), View{Server: "b", Record: done("b", 2)}, moveBegin},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := (protocol{tt.policy, 15 * time.Second}).next(tt.k, tt.v); got != tt.want {
				t.Errorf("move %d, want %d", got, tt.want)
			}
		})
	}
}

// An agreement waits for every node of the last hour: for silent ones a while, for living ones longer.
func TestReady(t *testing.T) {
	const began = int64(100_000_000)
	r := Record{Server: "b", Term: 2, Began: began, Open: true}
	second := time.Second.Milliseconds()
	raised := Member{ID: "raised", Seen: began, Term: 2, Server: "b"}
	silent := Member{ID: "silent", Seen: began - 10*second, Term: 1, Server: "a"}
	living := func(now int64) Member { return Member{ID: "living", Seen: now - second, Term: 2, Server: "a"} }
	forgotten := Member{ID: "forgotten", Seen: began - 2*time.Hour.Milliseconds()}
	for _, tt := range []struct {
		name  string
		after int64 // seconds
		nodes func(now int64) []Member
		want  bool
	}{
		{"alone, at once", 1, func(int64) []Member { return []Member{raised} }, false},
		{"alone", 5, func(int64) []Member { return []Member{raised} }, true},
		{"one of long ago", 5, func(int64) []Member { return []Member{raised, forgotten} }, true},
		{"one silent", 14, func(int64) []Member { return []Member{raised, silent} }, false},
		{"one silent for long", 15, func(int64) []Member { return []Member{raised, silent} }, true},
		{"one living", 30, func(now int64) []Member { return []Member{raised, living(now)} }, false},
		{"one living that never raises", 60, func(now int64) []Member { return []Member{raised, living(now)} }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := began + tt.after*second
			v := View{Server: "b", Now: now, Record: r, Nodes: tt.nodes(now)}
			if got := (protocol{PolicyGap, 15 * time.Second}).ready(v); got != tt.want {
				t.Errorf("ready: %v", got)
			}
		})
	}
}

func TestGapOf(t *testing.T) {
	nodes := []Member{{ID: "1", Seen: 10}, {ID: "2", Seen: 10}, {ID: "old", Seen: -2 * time.Hour.Milliseconds()}}
	for _, tt := range []struct {
		asked, own, want int64
	}{{0, 0, 2 * 1000 * 2}, {0, 7, 7}, {5, 7, 5}, {NoGap, 7, 0}, {0, NoGap, 0}} {
		if got := gapOf(View{Nodes: nodes, Record: Record{Gap: tt.asked, Began: 10}}, tt.own, 1000); got != tt.want {
			t.Errorf("gap %d asked for, %d of this node's: %d, want %d", tt.asked, tt.own, got, tt.want)
		}
	}
}

func TestSpokenOf(t *testing.T) {
	const minute = 60_000
	nodes := []Member{{ID: "1", Window: 3 * minute}, {ID: "2", Window: minute}}
	for name, tt := range map[string]struct {
		record Record
		nodes  []Member
		want   int64
	}{
		"this node's window":       {Record{}, nil, 1000 + 2*minute + 10_000},
		"a longer one":             {Record{}, nodes, 1000 + 3*minute + 10_000},
		"an earlier agreement's":   {Record{Spoken: 9 * minute}, nodes, 9 * minute},
		"nothing lost":             {Record{Gap: NoGap}, nodes, 0},
		"nothing lost, but before": {Record{Gap: NoGap, Spoken: 9 * minute}, nodes, 9 * minute},
	} {
		t.Run(name, func(t *testing.T) {
			if got := spokenOf(View{Now: 1000, Record: tt.record, Nodes: tt.nodes}, 2*time.Minute); got != tt.want {
				t.Errorf("spoken for up to %d, want %d", got, tt.want)
			}
		})
	}
}
