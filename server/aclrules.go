package server

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// parseUser reads one line of an ACL file: user <name> <rule>...
func parseUser(commands map[string]*command, line string) (*user, error) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "user" {
		return nil, errors.New("want: user <name> <rule>, and more rules")
	}
	u := newUser(words[1], len(commands))
	for _, rule := range words[2:] {
		if err := u.apply(commands, rule); err != nil {
			// The rule may be a password.
			return nil, fmt.Errorf("user '%s': rule '%s': %w", u.name, withoutSecret(rule), err)
		}
	}
	return u, nil
}

func withoutSecret(rule string) string {
	if strings.ContainsAny(rule[:1], "><#!") {
		return rule[:1] + "..."
	}
	return rule
}

// apply carries out one rule, in order, as Redis does.
func (u *user) apply(commands map[string]*command, rule string) error {
	switch strings.ToLower(rule) {
	case "on":
		u.on = true
	case "off":
		u.on = false
	case "nopass":
		u.nopass, u.hashes = true, nil
	case "resetpass":
		u.nopass, u.hashes = false, nil
	case "allkeys", "~*":
		u.allKeys, u.patterns = true, nil
	case "resetkeys":
		u.allKeys, u.patterns = false, nil
	case "allchannels", "resetchannels", "sanitize-payload", "skip-sanitize-payload", "clearselectors":
		// Nothing is published or restored here.
	case "allcommands", "+@all":
		u.allowAll(true)
	case "nocommands", "-@all":
		u.allowAll(false)
	case "reset":
		*u = *newUser(u.name, len(u.allowed))
	default:
		return u.applyPrefixed(commands, rule)
	}
	return nil
}

func (u *user) applyPrefixed(commands map[string]*command, rule string) error {
	rest := rule[1:]
	switch rule[0] {
	case '>':
		u.addPassword(sha256.Sum256([]byte(rest)))
	case '<':
		return u.removePassword(sha256.Sum256([]byte(rest)))
	case '#', '!':
		sum, err := hex.DecodeString(rest)
		if err != nil || len(sum) != sha256.Size {
			return errors.New("the password hash must be exactly 64 characters of lowercase hexadecimal")
		}
		if rule[0] == '!' {
			return u.removePassword([sha256.Size]byte(sum))
		}
		u.addPassword([sha256.Size]byte(sum))
	case '~':
		if u.allKeys {
			return errors.New("adding a pattern after ~* has no effect: use resetkeys first")
		}
		u.patterns = append(u.patterns, rest)
	case '&': // channels: nothing is published
	case '+', '-':
		return u.applyCommand(commands, rule[0] == '+', strings.ToLower(rest), rule)
	case '%', '(':
		return errors.New("key permissions and selectors are not supported: use ~pattern")
	default:
		return errors.New("syntax error")
	}
	return nil
}

func (u *user) addPassword(sum [sha256.Size]byte) {
	u.nopass = false
	if !slices.Contains(u.hashes, sum) {
		u.hashes = append(u.hashes, sum)
	}
}

func (u *user) removePassword(sum [sha256.Size]byte) error {
	i := slices.Index(u.hashes, sum)
	if i < 0 {
		return errors.New("the user has no such password")
	}
	u.hashes = slices.Delete(u.hashes, i, i+1)
	return nil
}

// applyCommand allows or forbids a command, a category of them, or one subcommand.
func (u *user) applyCommand(commands map[string]*command, yes bool, name, rule string) error {
	u.rules = append(u.rules, strings.ToLower(rule))
	if category, ok := strings.CutPrefix(name, "@"); ok {
		return u.applyCategory(commands, yes, category)
	}
	name, sub, ok := strings.Cut(name, "|")
	cmd := commands[name]
	if cmd == nil {
		return errors.New("unknown command or category name in ACL")
	}
	if ok {
		u.subs[name+"|"+sub] = yes
		return nil
	}
	u.allow(cmd, yes)
	return nil
}

func (u *user) applyCategory(commands map[string]*command, yes bool, category string) error {
	if !slices.Contains(categories(), category) {
		return errors.New("unknown command or category name in ACL")
	}
	for _, cmd := range commands {
		if slices.Contains(cmd.categories(), category) {
			u.allow(cmd, yes)
		}
	}
	if category == "admin" || category == "dangerous" {
		for _, sub := range adminSubcommands() {
			u.subs[sub] = yes
		}
	}
	return nil
}

// adminSubcommands are those that administer, of commands that also do other things.
func adminSubcommands() []string { return []string{"config|set", "config|resetstat", "client|kill"} }

func (u *user) allow(cmd *command, yes bool) {
	u.allowed[cmd.index] = yes
	for sub := range u.subs {
		if strings.HasPrefix(sub, cmd.name+"|") {
			delete(u.subs, sub)
		}
	}
}

// categories lists Redis's categories, so that its ACL files load, and @draw: the commands that draw ids.
func categories() []string {
	return []string{"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo", "stream",
		"pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting", "draw"}
}

// categories are those that the command is in.
func (cmd *command) categories() []string {
	all := []string{cmd.group}
	switch cmd.group {
	case "generic":
		all = []string{"keyspace"}
	case "transactions":
		all = []string{"transaction"}
	case "server":
		all = nil
	}
	for _, f := range []struct {
		flag flag
		name string
	}{{write, "write"}, {readonly, "read"}, {admin, "admin"}, {admin, "dangerous"}, {draw, "draw"}} {
		if cmd.flags&f.flag != 0 {
			all = append(all, f.name)
		}
	}
	if cmd.flags&fast != 0 {
		return append(all, "fast")
	}
	return append(all, "slow")
}
