package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// aclText is an ACL file that Redis and redleaf load alike.
const aclText = `# people and programs
user default off nopass
user drawer on >draw ~segment:order* ~snowflake:* -@all +incr +incrby +get +mget +lpop +auth +hello +ping
user reader on #2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90 ~* &* -@all +@read +config|get +client -client|kill +ping
user admin on >secret allkeys allchannels allcommands
user nobody off >x ~* +@all

user almost on >almost ~* &* +@all -set -config +config|get
`

// Users, passwords, commands, subcommands and key patterns are decided as by a real Redis with the same file. ("reader"
// has the password "alice".)
func TestSameACLAsRedis(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(aclText, "# people and programs\n", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := startRedis(t, "--aclfile", file)
	s := newTestServer(t, func(c *Config) { c.ACL = aclText })
	logins := []string{"", "AUTH drawer draw", "AUTH drawer wrong", "AUTH reader alice", "AUTH admin secret", "AUTH nobody x", "AUTH almost almost", "AUTH draw", "AUTH missing x", "HELLO 2 AUTH reader alice"}
	requests := []string{
		"PING", "ACL WHOAMI", "INCR other", "INCRBY other x", "GET snowflake:", "GET nothing", "MGET nothing snowflake:", "MGET segment:orderx nothing", "LPOP other",
		"SET segment:ordera", "SET segment:x y", "CONFIG GET save", "CONFIG RESETSTAT", "CONFIG SET a b", "CLIENT GETNAME", "CLIENT KILL 1.2.3.4:5", "EXISTS nothing", "KEYS nothing", "STRLEN nothing",
		"MULTI", "EXEC", "SELECT 0", "FOO", "INFO nothing", "SUBSCRIBE a",
	}
	for _, login := range logins {
		for _, request := range requests {
			raw := request + "\r\n"
			if login != "" {
				raw = login + "\r\n" + raw
			}
			theirs, _ := exchangeClosing(t, "unix", socket, raw)
			ours, _ := exchangeClosing(t, "tcp", s.addr, raw)
			if strings.HasPrefix(login, "HELLO") {
				theirs, ours = theirs[strings.LastIndex(theirs, "modules"):], ours[strings.LastIndex(ours, "modules"):]
				ours = strings.Replace(ours, "$15\r\nredleaf_version\r\n$4\r\ntest\r\n", "", 1)
			}
			// What Redis does with a key that it may touch is its own affair: only refusals are compared there.
			if !strings.Contains(theirs, "NOPERM") && !strings.Contains(ours, "NOPERM") && !strings.Contains(theirs, "NOAUTH") && !strings.Contains(ours, "NOAUTH") {
				continue
			}
			if ours != theirs {
				t.Errorf("%q, %q:\nredis   %.300q\nredleaf %.300q", login, request, theirs, ours)
			}
		}
	}
}

func TestACLList(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.ACL = aclText })
	k := dial(t, "tcp", s.addr)
	k.do("AUTH admin secret")
	got := k.do("ACL LIST")
	for _, want := range []string{
		"user default off nopass &* -@all\r\n",
		"user admin on #2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b ~* &* +@all\r\n",
		" ~segment:order* ~snowflake:* &* -@all +incr +incrby +get +mget +lpop +auth +hello +ping\r\n",
		" ~* &* +@all -set -config +config|get\r\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("ACL LIST lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Error("ACL LIST shows a password")
	}
	if got := k.do("ACL CAT draw"); got != "*6\r\n$3\r\nget\r\n$4\r\nincr\r\n$6\r\nincrby\r\n$4\r\nlpop\r\n$4\r\nmget\r\n$4\r\nrpop\r\n" {
		t.Errorf("ACL CAT draw: %q", got)
	}
	if got := k.do("ACL SETUSER x on"); !strings.HasPrefix(got, "-ERR ACL SETUSER is not supported") {
		t.Errorf("ACL SETUSER: %q", got)
	}
}

// A file that can't be read names line and rule, and never shows a password.
func TestBadACL(t *testing.T) {
	for _, tt := range []struct{ acl, says string }{
		{"user", "line 1: want: user <name> <rule>"},
		{"\nusr a on", "line 2: want: user"},
		{"user a +foo", "line 1: user 'a': rule '+foo': unknown command or category name in ACL"},
		{"user a +@foo", "rule '+@foo'"},
		{"user a hunter2", "rule 'hunter2': syntax error"},
		{"user a #abc", "rule '#...': the password hash must be exactly 64"},
		{"user a <hunter2", "rule '<...': the user has no such password"},
		{"user a %R~x", "not supported"},
		{"user a ~* ~b", "~* has no effect"},
		{"user a on\nuser a off", "line 2: user 'a' stands there twice"},
	} {
		_, err := newUsers(commandTable(), tt.acl, "")
		if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "hunter2") && !strings.Contains(tt.says, "hunter2") {
			t.Errorf("%q: %v, want %q", tt.acl, err, tt.says)
		}
	}
	users, err := newUsers(commandTable(), "user ops on >pw ~* +@all -@admin", "")
	if err != nil {
		t.Fatal(err)
	}
	commands := commandTable()
	for line, yes := range map[string]bool{"set a 1": false, "config set a b": false, "config get a": true, "client kill x": false, "client list": true, "shutdown": false, "incr a": true} {
		args := bytes.Fields([]byte(line))
		if err := users["ops"].may(commands[string(args[0])], args); (err == nil) != yes {
			t.Errorf("+@all -@admin, %s: %v", line, err)
		}
	}
	if _, err := newUsers(commandTable(), "user default on nopass +@all ~*", "sesame"); err == nil || !strings.Contains(err.Error(), "--requirepass") {
		t.Errorf("two passwords for the default user: %v", err)
	}
}

// A user without a password is on this machine to administer, whatever its rules say.
func TestNopassFromAfar(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.Unprotected = true })
	k := remote(t, s)
	for _, line := range []string{"CONFIG SET maxclients 5", "CONFIG RESETSTAT", "CLIENT KILL ID 1", "SHUTDOWN NOSAVE", "UNLINK segment:a"} {
		if got := k.do(line); !strings.HasPrefix(got, "-NOPERM this user has no permissions to run the '") {
			t.Errorf("%s: %q", line, got)
		}
	}
	withUsers := newTestServer(t, func(c *Config) { c.ACL = "user ops on >pw ~* +@all"; c.Unprotected = true })
	k = remote(t, withUsers)
	k.do("AUTH ops pw")
	if got := k.do("CONFIG SET maxclients 500"); got != "+OK\r\n" {
		t.Errorf("with a password: %q", got)
	}
}
