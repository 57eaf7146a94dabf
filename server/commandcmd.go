package server

import (
	"maps"
	"slices"
	"strings"
)

// commandCmd is COMMAND [COUNT | DOCS [name...] | LIST | INFO [name...]].
func (c *client) commandCmd(args [][]byte) error {
	if len(args) == 1 {
		c.commandInfo(c.s.names())
		return nil
	}
	names := make([]string, 0, len(args))
	for _, arg := range args[2:] {
		names = append(names, strings.ToLower(string(arg)))
	}
	switch sub := strings.ToUpper(string(args[1])); sub {
	case "COUNT":
		if len(names) > 0 {
			return wrongArity("command|count")
		}
		c.int(int64(len(c.s.commands)))
	case "LIST":
		all := c.s.names()
		c.array(len(all))
		for _, name := range all {
			c.bulk(name)
		}
	case "INFO":
		if len(names) == 0 {
			names = c.s.names()
		}
		c.commandInfo(names)
	case "DOCS":
		if len(names) == 0 {
			names = c.s.names()
		}
		c.commandDocs(names)
	case "HELP":
		c.help("COMMAND", "COUNT", "DOCS [<command-name> ...]", "INFO [<command-name> ...]", "LIST")
	default:
		return unknownSubcommand("COMMAND", args[1])
	}
	return nil
}

// names lists the commands in order.
func (s *Server) names() []string { return slices.Sorted(maps.Keys(s.commands)) }

// commandInfo replies with Redis 7's ten fields a command; a name that is none gives nil.
func (c *client) commandInfo(names []string) {
	c.array(len(names))
	for _, name := range names {
		cmd := c.s.commands[name]
		if cmd == nil {
			c.null()
			continue
		}
		c.array(10)
		c.bulk(cmd.name)
		c.int(int64(cmd.arity))
		flags := cmd.flagNames()
		c.setOf(len(flags))
		for _, f := range flags {
			c.status(f)
		}
		for _, k := range cmd.keys {
			c.int(int64(k))
		}
		c.setOf(1)
		c.status("@" + cmd.group)
		for range 3 { // tips, key specifications, subcommands
			c.array(0)
		}
	}
}

func (cmd *command) flagNames() (names []string) {
	for _, f := range []struct {
		flag flag
		name string
	}{{write, "write"}, {readonly, "readonly"}, {admin, "admin"}, {fast, "fast"}, {noAuth, "no_auth"}} {
		if cmd.flags&f.flag != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// commandDocs replies with what redis-cli shows as help; names that are no commands are left out, as in Redis.
func (c *client) commandDocs(names []string) {
	names = slices.DeleteFunc(names, func(name string) bool { return c.s.commands[name] == nil })
	c.mapOf(len(names))
	for _, name := range names {
		cmd := c.s.commands[name]
		c.bulk(cmd.name)
		c.mapOf(3)
		c.bulk("summary")
		c.bulk(cmd.about)
		c.bulk("since")
		c.bulk(cmd.since)
		c.bulk("group")
		c.bulk(cmd.group)
	}
}
