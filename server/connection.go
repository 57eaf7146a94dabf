package server

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/redcon"
)

// redisVersion is the version of Redis whose behaviour is shown; clients branch on it.
const redisVersion = "7.0.15"

// attackLogEvery is how many seconds lie between two warnings of HTTP requests, whatever comes in between.
const attackLogEvery = 60

// databases is how many SELECT knows, as in Redis. They all show the same ids.
const databases = 16

// ping is PING [message]. A RESP2 connection that listens gets it as an array, so that it looks like a message.
func (c *client) ping(args [][]byte) error {
	if len(args) > 2 {
		return wrongArity("ping")
	}
	message := []byte{}
	if len(args) == 2 {
		message = args[1]
	}
	switch {
	case !c.resp3 && c.subs.count() > 0:
		c.array(2)
		c.bulk("pong")
		c.out = redcon.AppendBulk(c.out, message)
	case len(args) == 1:
		c.status("PONG")
	default:
		c.out = redcon.AppendBulk(c.out, message)
	}
	return nil
}

// echo is ECHO message.
func (c *client) echo(args [][]byte) error {
	c.out = redcon.AppendBulk(c.out, args[1])
	return nil
}

// quit is QUIT: the rest of the pipeline is dropped.
func (c *client) quit([][]byte) error {
	c.status("OK")
	c.closing = true
	return nil
}

// reset is RESET: the connection is as new.
func (c *client) reset([][]byte) error {
	c.tx.reset(&c.s.memory)
	c.resp3, c.optIn, c.caching, c.reply = false, false, false, replyOn
	c.view.readOnly = false
	c.db, c.name = 0, ""
	c.subs = subscriptions{}
	c.setUser(c.s.firstUser())
	c.status("RESET")
	return nil
}

// selectDB is SELECT index.
func (c *client) selectDB(args [][]byte) error {
	n, err := parseInt(args[1])
	if err != nil {
		return err
	}
	if n < 0 || n >= databases {
		return errDBIndex
	}
	c.db = int(n)
	c.status("OK")
	return nil
}

// timeCmd is TIME: seconds and microseconds.
func (c *client) timeCmd([][]byte) error {
	now := time.Now()
	c.array(2)
	c.bulk(strconv.FormatInt(now.Unix(), 10))
	c.bulk(strconv.Itoa(now.Nanosecond() / 1000))
	return nil
}

// auth is AUTH [username] password.
func (c *client) auth(args [][]byte) error {
	if len(args) > 3 {
		return errSyntax
	}
	user := []byte("default")
	if len(args) == 3 {
		user = args[1]
	} else if c.s.users["default"].nopass {
		return errNoPassword
	}
	if err := c.login(user, args[len(args)-1]); err != nil {
		return err
	}
	c.status("OK")
	return nil
}

// login makes the connection a user's. An unknown name takes as long as a wrong password.
func (c *client) login(name, password []byte) error {
	u := c.s.users[string(name)]
	if u == nil {
		c.s.users["default"].checkPassword(password)
		return errWrongPass
	}
	if !u.checkPassword(password) || !u.on {
		c.s.cfg.Logger.Debug("AUTH failed", "client", c.addr, "user", u.name)
		return errWrongPass
	}
	c.setUser(u)
	return nil
}

// hello is HELLO [protover [AUTH username password] [SETNAME name]].
func (c *client) hello(args [][]byte) error {
	resp3, options := c.resp3, args[1:]
	if len(options) > 0 {
		n, err := parseInt(options[0])
		switch {
		case err != nil:
			return replyError("ERR Protocol version is not an integer or out of range")
		case n != 2 && n != 3:
			return replyError("NOPROTO unsupported protocol version")
		}
		resp3, options = n == 3, options[1:]
	}
	name, named, err := c.helloOptions(options)
	if err != nil {
		return err
	}
	if c.user == nil {
		return replyError("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> " +
			"option can be used to authenticate the client and select the RESP protocol version at the same time")
	}
	if named {
		c.name = name
	}
	c.resp3 = resp3
	c.limit()
	c.greet()
	return nil
}

// helloOptions carries AUTH out and returns the name that SETNAME gives.
func (c *client) helloOptions(args [][]byte) (name string, named bool, err error) {
	for len(args) > 0 {
		switch option := strings.ToUpper(string(args[0])); {
		case option == "AUTH" && len(args) >= 3:
			if err := c.login(args[1], args[2]); err != nil {
				return "", false, err
			}
			args = args[3:]
		case option == "SETNAME" && len(args) >= 2:
			if name, err = clientName(args[1]); err != nil {
				return "", false, err
			}
			named = true
			args = args[2:]
		default:
			return "", false, replyError("ERR Syntax error in HELLO option '" + string(clip(args[0], 128)) + "'")
		}
	}
	return name, named, nil
}

func (c *client) greet() {
	proto := int64(2)
	if c.resp3 {
		proto = 3
	}
	c.mapOf(8)
	c.bulk("server")
	c.bulk("redis")
	c.bulk("version")
	c.bulk(redisVersion)
	c.bulk("proto")
	c.int(proto)
	c.bulk("id")
	c.int(c.id)
	c.bulk("mode")
	c.bulk(c.s.mode())
	c.bulk("role")
	c.bulk("master")
	c.bulk("modules")
	c.array(0)
	c.bulk("redleaf_version")
	c.bulk(c.s.cfg.Version)
}

// tricked is POST and Host:, which a browser sends that somebody made to talk to this port: nothing is executed.
func (c *client) tricked([][]byte) error {
	level := slog.LevelDebug
	if now := time.Now().Unix(); now-c.s.attackLogged.Swap(now) > attackLogEvery {
		level = slog.LevelWarn
	}
	c.s.cfg.Logger.Log(context.Background(), level, "possible attack: an HTTP request came to the Redis port; the connection is closed", "client", c.addr)
	c.closing = true
	return nil
}
