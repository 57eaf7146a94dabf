package server

import (
	"context"
	"strings"
)

// maxCommandName is longer than any command's name.
const maxCommandName = 24

// command is one row of the command table.
type command struct {
	name  string
	arity int // with the name, as in Redis: exact, or at least -arity when negative
	flags flag
	keys  [3]int // first key, last key (negative: from the end), step: as COMMAND tells clients
	group string // of Redis's documentation
	since string // the version of Redis that brought it
	about string // one line, for COMMAND DOCS
	run   func(*client, [][]byte) error
}

type flag uint8

const (
	noAuth    flag = 1 << iota // allowed before AUTH
	admin                      // needs the right to administer tags
	immediate                  // executed inside MULTI, not queued
	write                      // as COMMAND tells clients
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
	c.commands++
	cmd := c.lookup(args[0])
	err := c.allow(cmd, args)
	switch {
	case err != nil:
		c.reject(cmd, err)
	case c.tx.open && cmd.flags&immediate == 0:
		c.queue(args)
	default:
		c.call(cmd, args)
	}
}

// reject answers a request that may not be executed. It spoils the transaction that it was meant for.
func (c *client) reject(cmd *command, err error) {
	reply := errorReply(err)
	if cmd != nil && cmd.name == "exec" {
		c.tx.reset(&c.s.memory)
		reply = "EXECABORT Transaction discarded because of: " + strings.TrimPrefix(reply, "ERR ")
	}
	c.tx.aborted = true
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
		return unknownCommand(args)
	case !cmd.fits(len(args)):
		return wrongArity(cmd.name)
	case !c.authed && cmd.flags&noAuth == 0:
		return errNoAuth
	case cmd.flags&admin != 0 && !c.mayAdmin():
		return replyError("NOPERM this user has no permissions to run the '" + cmd.name +
			"' command: without a password (--requirepass), tags are administered from the loopback interface only")
	}
	return nil
}

// mayAdmin reports whether the client may administer tags: it gave the password, or is on this machine.
func (c *client) mayAdmin() bool { return c.s.cfg.Password != "" || c.local }

// call runs the command; an error takes the place of whatever it replied.
func (c *client) call(cmd *command, args [][]byte) {
	c.lastCommand = cmd.name
	mark := len(c.out)
	if err := cmd.run(c, args); err != nil {
		c.out = appendError(c.out[:mark], errorReply(err))
	}
}

// patience is the context of a call that may have to wait. How long is its callee's rule; but once one call of a
// pipeline has waited in vain, the later ones don't wait.
func (c *client) patience() context.Context {
	if c.vain {
		return c.s.vain
	}
	return c.s.life
}
