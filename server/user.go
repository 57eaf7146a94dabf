package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// user is who may do what, in the terms of Redis's ACLs. It does not change once the server runs.
type user struct {
	name     string
	on       bool
	nopass   bool
	hashes   [][sha256.Size]byte // of passwords
	allowed  []bool              // commands, by index
	subs     map[string]bool     // exceptions by subcommand, "config|get": allowed or not
	allKeys  bool
	patterns []string
	rules    []string // about commands, as written
}

// checkPassword compares in constant time with every password of the user, whatever its length.
func (u *user) checkPassword(password []byte) bool {
	sum := sha256.Sum256(password)
	right := 0
	for i := range u.hashes {
		right |= subtle.ConstantTimeCompare(sum[:], u.hashes[i][:])
	}
	return u.nopass || right == 1
}

// everything reports whether no rule limits the user.
func (u *user) everything() bool {
	return u.allKeys && len(u.subs) == 0 && !slices.Contains(u.allowed, false)
}

// may says why the user may not send the request; its arity was checked.
func (u *user) may(cmd *command, args [][]byte) error {
	allowed, name := u.allowed[cmd.index], cmd.name
	if cmd.flags&container != 0 && len(args) > 1 {
		name += "|" + strings.ToLower(string(clip(args[1], 64)))
		if v, ok := u.subs[name]; ok {
			allowed = v
		}
	}
	if !allowed {
		return replyError("NOPERM this user has no permissions to run the '" + name + "' command")
	}
	if u.allKeys {
		return nil
	}
	for _, key := range cmd.keysOf(args) {
		if !slices.ContainsFunc(u.patterns, func(p string) bool { return glob(p, string(key)) }) {
			return replyError("NOPERM this user has no permissions to access one of the keys used as arguments")
		}
	}
	return nil
}

// describe is the user's line in ACL LIST.
func (u *user) describe() string {
	words := []string{"user", u.name, "off"}
	if u.on {
		words[2] = "on"
	}
	if u.nopass {
		words = append(words, "nopass")
	}
	for _, h := range u.hashes {
		words = append(words, "#"+hex.EncodeToString(h[:]))
	}
	if u.allKeys {
		words = append(words, "~*")
	}
	for _, p := range u.patterns {
		words = append(words, "~"+p)
	}
	words = append(words, "&*")
	if len(u.rules) == 0 || u.rules[0] != "+@all" {
		words = append(words, "-@all")
	}
	return strings.Join(append(words, u.rules...), " ")
}

// defaultUser is who connects without AUTH: all may do everything, after the password if there is one.
func defaultUser(commands map[string]*command, password string) *user {
	u := newUser("default", len(commands))
	u.on, u.allKeys = true, true
	u.allowAll(true)
	if password == "" {
		u.nopass = true
	} else {
		u.hashes = [][sha256.Size]byte{sha256.Sum256([]byte(password))}
	}
	return u
}

func newUser(name string, commands int) *user {
	return &user{name: name, allowed: make([]bool, commands), subs: map[string]bool{}}
}

func (u *user) allowAll(yes bool) {
	for i := range u.allowed {
		u.allowed[i] = yes
	}
	clear(u.subs)
	u.rules = nil
	if yes {
		u.rules = []string{"+@all"}
	}
}

// newUsers returns the users by name: those of the ACL text, each line as in Redis's ACL files, and default.
func newUsers(commands map[string]*command, acl, password string) (map[string]*user, error) {
	users := map[string]*user{}
	number := 0
	for line := range strings.Lines(acl) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		u, err := parseUser(commands, line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if users[u.name] != nil {
			return nil, fmt.Errorf("line %d: user '%s' stands there twice", number, u.name)
		}
		users[u.name] = u
	}
	switch {
	case users["default"] == nil:
		users["default"] = defaultUser(commands, password)
	case password != "":
		return nil, fmt.Errorf("user 'default' stands in the ACL file and has a password from --requirepass: give it one of the two")
	}
	return users, nil
}
