package server

import (
	"maps"
	"slices"
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
		keep = func(name string) bool { return slices.Contains(c.s.commands[name].categories(), filter[2]) }
	case filter[1] == "pattern":
		keep = func(name string) bool { return glob(filter[2], name) }
	default:
		return errSyntax
	}
	names := slices.DeleteFunc(c.s.names(), func(name string) bool { return !keep(name) })
	c.array(len(names))
	for _, name := range names {
		c.bulk(name)
	}
	return nil
}

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
		keys := cmd.keys
		if cmd.flags&container != 0 { // they belong to its subcommands
			keys = [3]int{}
		}
		for _, k := range keys {
			c.int(int64(k))
		}
		categories := cmd.categories()
		c.setOf(len(categories))
		for _, category := range categories {
			c.status("@" + category)
		}
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
	names = slices.DeleteFunc(names, func(name string) bool { return c.s.commands[name] == nil })
	c.mapOf(len(names))
	for _, name := range names {
		cmd := c.s.commands[name]
		arguments := parseSyntax(cmd.syntax)
		c.bulk(cmd.name)
		c.mapOf(4)
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
	}
}

// argument is one argument in a command's syntax.
type argument struct {
	name, kind, token  string
	optional, multiple bool
}

// parseSyntax reads a row's syntax: words as they would be typed. [x] is optional, x... may be repeated, upper case is a
// keyword, and KEYWORD=x a keyword with a value. Names decide the kind: key, pattern, or a number when it is n or count.
func parseSyntax(syntax string) (arguments []argument) {
	for word := range strings.FieldsSeq(syntax) {
		var a argument
		word, a.multiple = strings.CutSuffix(word, "...")
		if inner, ok := strings.CutPrefix(word, "["); ok {
			word, a.optional = strings.TrimSuffix(inner, "]"), true
			if inner, ok := strings.CutSuffix(word, "..."); ok {
				word, a.multiple = inner, true
			}
		}
		if token, value, ok := strings.Cut(word, "="); ok {
			a.token, word = token, value
		}
		a.name, a.kind = strings.ToLower(word), "string"
		switch {
		case word == strings.ToUpper(word):
			a.kind, a.token = "pure-token", word
		case word == "key" || word == "pattern":
			a.kind = word
		case word == "n" || word == "count" || word == "step" || word == "cursor" || word == "index":
			a.kind = "integer"
		}
		arguments = append(arguments, a)
	}
	return arguments
}

// argument replies with one argument in the form of COMMAND DOCS.
func (c *client) argument(a argument) {
	var flags []string
	if a.optional {
		flags = append(flags, "optional")
	}
	if a.multiple {
		flags = append(flags, "multiple")
	}
	pairs := [][2]string{{"name", a.name}, {"type", a.kind}}
	if a.token != "" {
		pairs = append(pairs, [2]string{"token", a.token})
	}
	size := len(pairs)
	if len(flags) > 0 {
		size++
	}
	c.mapOf(size)
	for _, p := range pairs {
		c.bulk(p[0])
		c.bulk(p[1])
	}
	if len(flags) > 0 {
		c.bulk("flags")
		c.setOf(len(flags))
		for _, f := range flags {
			c.status(f)
		}
	}
}
