package server

import (
	"context"
	"strings"
	"time"
)

// maxCommandName is longer than any command's name.
const maxCommandName = 24

// command is one row of the command table.
type command struct {
	name   string
	arity  int // with the name, as in Redis: exact, or at least -arity when negative
	flags  flag
	keys   [3]int // first key, last key (negative: from the end), step: as COMMAND tells clients
	group  string // of Redis's documentation
	since  string // the version of Redis that brought it
	syntax string // of its arguments, as parseSyntax reads it
	about  string // one line, for COMMAND DOCS
	subs   string // its subcommands, each with its arity: "get:-3 help:2"
	run    func(*client, [][]byte) error
	many   runner // answers equal requests in a row; nil: one by one
	index  int    // its place in the table
}

type flag uint16

const (
	noAuth         flag = 1 << iota // allowed before AUTH
	admin                           // needs the right to administer
	immediate                       // executed inside MULTI, not queued
	whileListening                  // allowed to a RESP2 connection that subscribed
	draw                            // draws ids
	container                       // has subcommands
	noMulti                         // not allowed inside a transaction
	write                           // as COMMAND tells clients
	readonly
	fast
)

func (cmd *command) fits(args int) bool {
	if cmd.arity < 0 {
		return args >= -cmd.arity
	}
	return args == cmd.arity
}

// execute answers one request (at least its name).
func (c *client) execute(args [][]byte) {
	mark := len(c.out)
	cmd := c.lookup(args[0])
	err := c.allow(cmd, args)
	if err == nil {
		err = c.redirect(cmd, args)
	}
	switch {
	case err != nil:
		c.reject(cmd, err)
	case c.tx.open && cmd.flags&immediate == 0:
		c.queue(args)
	default:
		c.call(cmd, args)
	}
	if c.reply != replyOn && c.muted() {
		c.out = c.out[:min(mark, len(c.out))]
	}
}

// reject answers a request that may not be executed. It spoils the transaction that it was meant for.
func (c *client) reject(cmd *command, err error) {
	reply := errorReply(err)
	if cmd != nil {
		c.s.stats.byCommand[cmd.index].rejected.Add(1)
		if cmd.name == "exec" {
			c.tx.reset(&c.s.memory)
			reply = "EXECABORT Transaction discarded because of: " + strings.TrimPrefix(reply, "ERR ")
		}
	}
	c.tx.aborted = true
	c.fail(reply)
}

// fail appends an error reply.
func (c *client) fail(reply string) {
	c.s.stats.errors.add(reply)
	c.out = appendError(c.out, reply)
}

// lookup finds the command by its name in any case.
func (c *client) lookup(name []byte) *command {
	if len(name) > len(c.word) {
		return nil
	}
	for i, b := range name {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		c.word[i] = b
	}
	return c.s.commands[string(c.word[:len(name)])]
}

// allow says why the request may not be executed, in Redis's order.
func (c *client) allow(cmd *command, args [][]byte) error {
	switch {
	case cmd == nil:
		return c.unknown(args)
	case !cmd.fits(len(args)):
		return wrongArity(cmd.name)
	case c.tx.open && cmd.flags&noMulti != 0:
		return replyError("ERR Command not allowed inside a transaction")
	case c.free: // nothing below applies
		return nil
	case cmd.flags&noAuth != 0:
		return nil
	case c.user == nil:
		return errNoAuth
	}
	if err := c.user.may(cmd, args); err != nil {
		return err
	}
	if cmd.flags&admin != 0 && !c.mayAdmin() {
		return noAdmin(cmd.name)
	}
	if err := c.mayNot(cmd); err != nil {
		return err
	}
	return c.mayCache(cmd, args)
}

// unknown is the error for a name that is no command of ours.
func (c *client) unknown(args [][]byte) error {
	if len(args[0]) <= len(c.word) {
		if why := refused(string(c.word[:len(args[0])])); why != "" {
			return replyError(why)
		}
	}
	return unknownCommand(args)
}

// mayAdmin reports whether the client may administer: it gave a password, or is on this machine.
func (c *client) mayAdmin() bool { return c.user != nil && (!c.user.nopass || c.local) }

// limit works out anew whether any rule limits the connection, so that the common case costs one look.
func (c *client) limit() {
	c.free = c.user != nil && c.user.everything() && c.mayAdmin() && (c.resp3 || c.subs.count() == 0) && !c.optIn
}

// call runs the command; an error takes the place of whatever it replied. Commands that may be slow are timed.
func (c *client) call(cmd *command, args [][]byte) {
	c.last, c.lastSub = cmd, lastSubcommand(cmd, args)
	c.slowSince = time.Time{}
	if c.s.timesAll() {
		c.slowSince = time.Now()
	}
	mark := len(c.out)
	err := cmd.run(c, args)
	if err != nil {
		c.s.stats.byCommand[cmd.index].failed.Add(1)
		c.out = c.out[:mark]
		c.fail(errorReply(err))
	}
	if c.slowSince.IsZero() {
		c.tally.add(cmd.index, 1)
		return
	}
	c.timed(cmd, args, time.Since(c.slowSince))
}

// lastSubcommand returns what CLIENT LIST shows beside the command's name.
func lastSubcommand(cmd *command, args [][]byte) string {
	if cmd.flags&container == 0 || len(args) < 2 {
		return ""
	}
	return "|" + strings.ToLower(string(clip(args[1], 32)))
}

// timesAll reports whether every command is timed by itself.
func (s *Server) timesAll() bool {
	threshold := s.slow.threshold.Load()
	return threshold >= 0 && threshold < int64(alwaysTimed)
}

// timed takes note of how long one command took.
func (c *client) timed(cmd *command, args [][]byte, took time.Duration) {
	c.s.stats.byCommand[cmd.index].add(1, took)
	c.s.stats.commands.Add(1)
	c.timedSum += took
	c.s.slow.record(c, args, took)
	c.s.latency.record(latencyEvent, took)
}

// patience is the context of a call that may have to wait. How long is its callee's rule; but once one call of a
// pipeline has waited in vain, the later ones don't wait. Its command is timed.
func (c *client) patience() context.Context {
	if c.slowSince.IsZero() {
		c.slowSince = time.Now()
	}
	if c.vain {
		return c.s.vain
	}
	return c.s.life
}
