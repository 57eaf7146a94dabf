package server

import (
	"maps"
	"slices"
	"strings"
)

// aclCmd is ACL WHOAMI | LIST | USERS | CAT [category].
func (c *client) aclCmd(args [][]byte) error {
	sub := strings.ToUpper(string(args[1]))
	switch {
	case sub == "WHOAMI" && len(args) == 2:
		c.bulk(c.user.name)
	case sub == "LIST" && len(args) == 2:
		c.aclNames(func(u *user) string { return u.describe() })
	case sub == "USERS" && len(args) == 2:
		c.aclNames(func(u *user) string { return u.name })
	case sub == "CAT" && len(args) <= 3:
		return c.aclCat(args[2:])
	case sub == "HELP" && len(args) == 2:
		c.help("ACL", "CAT [<category>]", "LIST", "USERS", "WHOAMI")
	case sub == "CAT":
		return subcommandSyntax("ACL", args[1])
	case sub == "WHOAMI", sub == "LIST", sub == "USERS", sub == "HELP":
		return wrongArity("acl|" + strings.ToLower(sub))
	case slices.Contains([]string{"SETUSER", "DELUSER", "LOAD", "SAVE"}, sub):
		return replyError("ERR ACL " + sub + " is not supported: users are kept in --acl-file, which is read at start")
	default:
		return unknownSubcommand("ACL", args[1])
	}
	return nil
}

func (c *client) aclNames(show func(*user) string) {
	names := slices.Sorted(maps.Keys(c.s.users))
	c.array(len(names))
	for _, name := range names {
		c.bulk(show(c.s.users[name]))
	}
}

func (c *client) aclCat(args [][]byte) error {
	all := categories()
	if len(args) == 1 {
		category := strings.ToLower(string(args[0]))
		if !slices.Contains(all, category) {
			return replyError("ERR Unknown category '" + string(clip(args[0], 128)) + "'")
		}
		all = nil
		for _, name := range c.s.names() {
			if slices.Contains(c.s.commands[name].categories(), category) {
				all = append(all, name)
			}
		}
	}
	c.array(len(all))
	for _, name := range all {
		c.bulk(name)
	}
	return nil
}
