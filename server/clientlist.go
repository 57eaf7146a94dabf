package server

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shown is what other connections may see of a client, as of its last pipeline.
type shown struct {
	name, user, libName, libVer, lastCommand string
	db, multi, resp, channels, patterns      int
	queryBytes, queryRoom, queued, outRoom   int
	active                                   time.Time
}

// publishEvery is how often, at most, a connection that goes on drawing ids shows that it does.
const publishEvery = 100 * time.Millisecond

// changed reports whether others should see more than that the connection goes on drawing ids.
func (c *client) changed() bool {
	drawing := c.last != nil && c.last.many != nil && c.last == c.shownLast
	return !drawing || c.now.Sub(c.shownAt) > publishEvery
}

// publishState brings what others see up to date. It is called once a pipeline, not once a command.
func (c *client) publishState(now time.Time) {
	s := shown{
		name: c.name, libName: c.libName, libVer: c.libVer, lastCommand: "NULL", db: c.db, multi: -1, resp: 2,
		channels: len(c.subs.channels), patterns: len(c.subs.patterns),
		queryBytes: len(c.in.unread()) + c.request, queryRoom: len(c.in.buf) - len(c.in.unread()), queued: len(c.tx.queue), outRoom: cap(c.out),
		active: now,
	}
	if c.user != nil {
		s.user = c.user.name
	}
	if c.last != nil {
		s.lastCommand = c.last.name + c.lastSub
	}
	if c.resp3 {
		s.resp = 3
	}
	if c.tx.open {
		s.multi = c.tx.queued
	}
	c.shownLast, c.shownAt = c.last, now
	c.mu.Lock()
	c.shown = s
	c.mu.Unlock()
}

// describe is the connection's line in CLIENT LIST and CLIENT INFO. Safe for concurrent use.
func (c *client) describe() string {
	c.mu.Lock()
	s := c.shown
	c.mu.Unlock()
	now := time.Now()
	flags := "N"
	if s.channels+s.patterns > 0 {
		flags = "P"
	}
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=0 name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=0 multi=%d "+
		"qbuf=%d qbuf-free=%d argv-mem=0 multi-mem=%d rbs=%d rbp=0 obl=0 oll=0 omem=0 tot-mem=%d events=r cmd=%s user=%s "+
		"redir=-1 resp=%d lib-name=%s lib-ver=%s",
		c.id, c.addr, c.conn.LocalAddr(), s.name, int(now.Sub(c.created).Seconds()), int(now.Sub(s.active).Seconds()), flags, s.db, s.channels, s.patterns, s.multi,
		s.queryBytes, s.queryRoom, s.queued, s.outRoom, s.queryBytes+s.queryRoom+s.queued+s.outRoom, s.lastCommand, s.user, s.resp, s.libName, s.libVer)
}

// all returns the clients by id.
func (s *Server) all() []*client {
	s.mu.Lock()
	clients := make([]*client, 0, len(s.clients))
	for c := range s.clients {
		clients = append(clients, c)
	}
	s.mu.Unlock()
	slices.SortFunc(clients, func(a, b *client) int { return cmp.Compare(a.id, b.id) })
	return clients
}

// clientList is CLIENT LIST [TYPE type] [ID id...].
func (c *client) clientList(args [][]byte) error {
	keep := func(*client) bool { return true }
	switch {
	case len(args) == 0:
	case strings.EqualFold(string(args[0]), "TYPE") && len(args) == 2:
		pubsub, normal, err := clientType(args[1])
		if err != nil {
			return err
		}
		keep = func(other *client) bool { return other.isType(pubsub, normal) }
	case strings.EqualFold(string(args[0]), "ID") && len(args) > 1:
		var ids []int64
		for _, arg := range args[1:] {
			id, err := parseInt(arg)
			if err != nil {
				return replyError("ERR Invalid client ID")
			}
			ids = append(ids, id)
		}
		keep = func(other *client) bool { return slices.Contains(ids, other.id) }
	default:
		return errSyntax
	}
	c.publishState(time.Now())
	var b strings.Builder
	for _, other := range c.s.all() {
		if keep(other) {
			b.WriteString(other.describe() + "\n")
		}
	}
	c.text(b.String())
	return nil
}

// clientType reads a TYPE; replicas and masters there are none.
func clientType(arg []byte) (pubsub, normal bool, err error) {
	switch strings.ToLower(string(arg)) {
	case "normal":
		return false, true, nil
	case "pubsub":
		return true, false, nil
	case "master", "replica", "slave":
		return false, false, nil
	}
	return false, false, replyError("ERR Unknown client type '" + string(clip(arg, 128)) + "'")
}

func (c *client) isType(pubsub, normal bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	listening := c.shown.channels+c.shown.patterns > 0
	return listening && pubsub || !listening && normal
}

// killFilter chooses the clients that CLIENT KILL closes: those that pass every condition.
type killFilter struct {
	conditions []func(*client) bool
	skipMe     bool
}

// clientKill is CLIENT KILL addr:port, or CLIENT KILL filter value...
func (c *client) clientKill(args [][]byte) error {
	if len(args) == 1 {
		addr := string(args[0])
		for _, other := range c.s.all() {
			if other.addr == addr {
				c.kill(other)
				c.status("OK")
				return nil
			}
		}
		return replyError("ERR No such client")
	}
	f, err := parseKill(c.s.users, args)
	if err != nil {
		return err
	}
	n := int64(0)
	for _, other := range c.s.all() {
		if f.skipMe && other == c || slices.ContainsFunc(f.conditions, func(ok func(*client) bool) bool { return !ok(other) }) {
			continue
		}
		c.kill(other)
		n++
	}
	c.int(n)
	return nil
}

// kill closes a connection; one's own after the reply.
func (c *client) kill(other *client) {
	if other == c {
		c.closing = true
		return
	}
	other.conn.Close()
}

func parseKill(users map[string]*user, args [][]byte) (f killFilter, err error) {
	f.skipMe = true
	if len(args)%2 != 0 {
		return f, errSyntax
	}
	for i := 0; i < len(args); i += 2 {
		value := string(args[i+1])
		var condition func(*client) bool
		switch strings.ToUpper(string(args[i])) {
		case "ID":
			id, err := strconv.ParseInt(value, 10, 64)
			if err != nil || id < 1 {
				return f, replyError("ERR client-id should be greater than 0")
			}
			condition = func(c *client) bool { return c.id == id }
		case "ADDR":
			condition = func(c *client) bool { return c.addr == value }
		case "LADDR":
			condition = func(c *client) bool { return c.conn.LocalAddr().String() == value }
		case "USER":
			if users[value] == nil {
				return f, replyError("ERR No such user '" + string(clip(args[i+1], 128)) + "'")
			}
			condition = func(c *client) bool { return c.shownUser() == value }
		case "TYPE":
			pubsub, normal, err := clientType(args[i+1])
			if err != nil {
				return f, err
			}
			condition = func(c *client) bool { return c.isType(pubsub, normal) }
		case "SKIPME":
			if f.skipMe = strings.EqualFold(value, "yes"); !f.skipMe && !strings.EqualFold(value, "no") {
				return f, errSyntax
			}
			continue
		default:
			return f, errSyntax
		}
		f.conditions = append(f.conditions, condition)
	}
	return f, nil
}

func (c *client) shownUser() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown.user
}
