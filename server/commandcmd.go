package server

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// commandCmd is COMMAND [COUNT | DOCS [name...] | LIST [FILTERBY ...] | INFO [name...] | GETKEYS command arg...].
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
		return c.commandList(names)
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
	case "GETKEYS":
		return c.commandGetKeys(args[2:])
	case "HELP":
		c.help("COMMAND", "COUNT", "DOCS [<command-name> ...]", "GETKEYS <full-command>", "INFO [<command-name> ...]", "LIST [FILTERBY (MODULE|ACLCAT|PATTERN) <value>]")
	default:
		return unknownSubcommand("COMMAND", args[1])
	}
	return nil
}

// names lists the commands in order.
func (s *Server) names() []string { return slices.Sorted(maps.Keys(s.commands)) }

// commandList is COMMAND LIST [FILTERBY MODULE | ACLCAT | PATTERN value].
func (c *client) commandList(filter []string) error {
	var keep func(name string) bool
	switch {
	case len(filter) == 0:
		keep = func(string) bool { return true }
	case len(filter) != 3 || filter[0] != "filterby":
		return errSyntax
	case filter[1] == "module":
		keep = func(string) bool { return false }
	case filter[1] == "aclcat":
		keep = func(name string) bool { cmd, _ := c.s.find(name); return slices.Contains(cmd.categories(), filter[2]) }
	case filter[1] == "pattern":
		keep = func(name string) bool { return glob(filter[2], name) }
	default:
		return errSyntax
	}
	var names []string
	for _, name := range c.s.names() {
		all := []string{name}
		for _, sub := range c.s.commands[name].subcommands() {
			all = append(all, name+"|"+sub.name)
		}
		names = append(names, slices.DeleteFunc(all, func(name string) bool { return !keep(name) })...)
	}
	c.array(len(names))
	for _, name := range names {
		c.bulk(name)
	}
	return nil
}

// subcommand is one of a container's.
type subcommand struct {
	name  string
	arity int
}

// subcommands lists those of the row.
func (cmd *command) subcommands() (all []subcommand) {
	for word := range strings.FieldsSeq(cmd.subs) {
		name, arity, _ := strings.Cut(word, ":")
		n, _ := strconv.Atoi(arity) // the table's own
		all = append(all, subcommand{name, n})
	}
	return all
}

// find returns the command of this name, or the container of a name like client|list and the subcommand.
func (s *Server) find(name string) (cmd *command, sub *subcommand) {
	name, subName, isSub := strings.Cut(name, "|")
	cmd = s.commands[name]
	if cmd == nil || !isSub {
		return cmd, nil
	}
	for _, one := range cmd.subcommands() {
		if one.name == subName {
			return cmd, &one
		}
	}
	return nil, nil
}

// commandInfo replies with Redis 7's ten fields a command; a name that is none gives nil.
func (c *client) commandInfo(names []string) {
	c.array(len(names))
	for _, name := range names {
		switch cmd, sub := c.s.find(name); {
		case cmd == nil:
			c.null()
		case sub != nil:
			c.describeCommand(cmd, name, sub.arity, cmd.keys, nil)
		case cmd.flags&container != 0: // the keys belong to its subcommands
			c.describeCommand(cmd, name, cmd.arity, [3]int{}, cmd.subcommands())
		default:
			c.describeCommand(cmd, name, cmd.arity, cmd.keys, nil)
		}
	}
}

func (c *client) describeCommand(cmd *command, name string, arity int, keys [3]int, subs []subcommand) {
	c.array(10)
	c.bulk(name)
	c.int(int64(arity))
	flags := cmd.flagNames()
	c.setOf(len(flags))
	for _, f := range flags {
		c.status(f)
	}
	for _, k := range keys {
		c.int(int64(k))
	}
	categories := cmd.categories()
	c.setOf(len(categories))
	for _, category := range categories {
		c.status("@" + category)
	}
	c.array(0) // tips
	c.array(0) // key specifications
	c.array(len(subs))
	for _, sub := range subs {
		c.describeCommand(cmd, name+"|"+sub.name, sub.arity, cmd.keys, nil)
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

// keysOf returns the keys among a request's arguments.
func (cmd *command) keysOf(args [][]byte) (keys [][]byte) {
	first, last, step := cmd.keys[0], cmd.keys[1], cmd.keys[2]
	if first == 0 {
		return nil
	}
	if last < 0 {
		last += len(args)
	}
	for i := first; i <= last && i < len(args); i += step {
		keys = append(keys, args[i])
	}
	return keys
}

// commandGetKeys is COMMAND GETKEYS command arg...
func (c *client) commandGetKeys(args [][]byte) error {
	if len(args) < 2 {
		return wrongArity("command|getkeys")
	}
	cmd := c.s.commands[strings.ToLower(string(args[0]))]
	switch {
	case cmd == nil:
		return replyError("ERR Invalid command specified")
	case cmd.keys[0] == 0:
		return replyError("ERR The command has no key arguments")
	case !cmd.fits(len(args)):
		return replyError("ERR Invalid number of arguments specified for command")
	}
	keys := cmd.keysOf(args)
	c.array(len(keys))
	for _, key := range keys {
		c.bulk(string(key))
	}
	return nil
}

// commandDocs replies with what redis-cli shows as help and hints; names that are no commands are left out, as in Redis.
func (c *client) commandDocs(names []string) {
	names = slices.DeleteFunc(names, func(name string) bool { cmd, _ := c.s.find(name); return cmd == nil })
	c.mapOf(len(names))
	for _, name := range names {
		cmd, sub := c.s.find(name)
		if sub != nil {
			c.docsOf(cmd, name, nil)
			continue
		}
		c.docsOf(cmd, name, cmd.subcommands())
	}
}

func (c *client) docsOf(cmd *command, name string, subs []subcommand) {
	arguments := parseSyntax(cmd.syntax)
	if cmd.flags&container != 0 {
		arguments = nil // each subcommand has its own
	}
	size := 4
	if len(subs) > 0 {
		size++
	}
	c.bulk(name)
	c.mapOf(size)
	c.bulk("summary")
	c.bulk(cmd.about)
	c.bulk("since")
	c.bulk(cmd.since)
	c.bulk("group")
	c.bulk(cmd.group)
	c.bulk("arguments")
	c.array(len(arguments))
	for _, a := range arguments {
		c.argument(a)
	}
	if len(subs) > 0 {
		c.bulk("subcommands")
		c.mapOf(len(subs))
		for _, sub := range subs {
			c.docsOf(cmd, name+"|"+sub.name, nil)
		}
	}
}
