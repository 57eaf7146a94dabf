package server

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
)

// clusterOff is CLUSTER, READONLY, READWRITE and ASKING: this node shows itself as a plain Redis.
func (c *client) clusterOff(args [][]byte) error {
	if c.last.flags&container != 0 && !slices.ContainsFunc(c.last.subcommands(), func(sub subcommand) bool { return strings.EqualFold(sub.name, string(args[1])) }) {
		return unknownSubcommand("CLUSTER", args[1])
	}
	return replyError("ERR This instance has cluster support disabled")
}

// object is OBJECT ENCODING | REFCOUNT | IDLETIME | FREQ key.
func (c *client) object(args [][]byte) error {
	sub := strings.ToUpper(string(args[1]))
	switch sub {
	case "ENCODING", "REFCOUNT", "IDLETIME", "FREQ":
		if len(args) != 3 {
			return wrongArity("object|" + strings.ToLower(sub))
		}
	case "HELP":
		c.help("OBJECT", "ENCODING <key>", "FREQ <key>", "IDLETIME <key>", "REFCOUNT <key>")
		return nil
	default:
		return unknownSubcommand("OBJECT", args[1])
	}
	yes, err := c.exists(args[2])
	switch {
	case err != nil:
		return err
	case !yes:
		c.null()
	case sub == "ENCODING":
		c.bulk("int")
	case sub == "REFCOUNT":
		c.int(1)
	case sub == "FREQ":
		return replyError("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
	default:
		c.int(0)
	}
	return nil
}

// tagMemory is about how many bytes a tag takes in this process.
const tagMemory = 512

// memoryCmd is MEMORY USAGE key [SAMPLES n] | DOCTOR.
func (c *client) memoryCmd(args [][]byte) error {
	switch sub := strings.ToUpper(string(args[1])); {
	case sub == "USAGE" && (len(args) == 3 || len(args) == 5 && strings.EqualFold(string(args[3]), "SAMPLES")):
		yes, err := c.exists(args[2])
		if err != nil {
			return err
		}
		if !yes {
			c.null()
			return nil
		}
		c.int(tagMemory + int64(len(args[2])))
	case sub == "USAGE" && len(args) > 3:
		return errSyntax
	case sub == "DOCTOR" && len(args) == 2:
		c.text("Sam, I can't find any memory issue in your instance: what redleaf holds is bounded. INFO memory shows it.")
	case sub == "HELP" && len(args) == 2:
		c.help("MEMORY", "DOCTOR", "USAGE <key> [SAMPLES <count>]")
	case sub == "USAGE", sub == "DOCTOR", sub == "HELP":
		return wrongArity("memory|" + strings.ToLower(sub))
	default:
		return unknownSubcommand("MEMORY", args[1])
	}
	return nil
}

// randomKey is RANDOMKEY: one of the first segment tags.
func (c *client) randomKey([][]byte) error {
	if c.s.cfg.Segments == nil {
		c.null()
		return nil
	}
	rows, err := c.s.cfg.Segments.List(c.patience(), "", keysPage)
	if err != nil {
		return c.drawn(nil, err)
	}
	if len(rows) == 0 {
		c.null()
		return nil
	}
	c.bulk(c.s.key(rows[rand.IntN(len(rows))].Tag))
	return nil
}

// role is ROLE: a master without replicas.
func (c *client) role([][]byte) error {
	c.array(3)
	c.bulk("master")
	c.int(0)
	c.array(0)
	return nil
}

// waitCmd is WAIT numreplicas timeout: no replicas, and nothing to wait for, since what is drawn is durable.
func (c *client) waitCmd(args [][]byte) error {
	if _, err := parseInt(args[1]); err != nil {
		return err
	}
	switch timeout, err := parseInt(args[2]); {
	case err != nil:
		return replyError("ERR timeout is not an integer or out of range")
	case timeout < 0:
		return replyError("ERR timeout is negative")
	}
	c.int(0)
	return nil
}

// module is MODULE LIST.
func (c *client) module(args [][]byte) error {
	switch strings.ToUpper(string(args[1])) {
	case "LIST", "HELP":
		if len(args) > 2 {
			return wrongArity("module|" + strings.ToLower(string(args[1])))
		}
		if strings.EqualFold(string(args[1]), "HELP") {
			c.help("MODULE", "LIST")
			return nil
		}
		c.array(0)
	case "LOAD", "LOADEX", "UNLOAD":
		return replyError("ERR MODULE " + strings.ToUpper(string(args[1])) + " is not supported: there are no modules")
	default:
		return unknownSubcommand("MODULE", args[1])
	}
	return nil
}

// shutdown is SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE]: an orderly stop, as SIGTERM is. The connection closes without a reply.
func (c *client) shutdown(args [][]byte) error {
	for _, arg := range args[1:] {
		switch strings.ToUpper(string(arg)) {
		case "NOSAVE", "SAVE", "NOW", "FORCE":
		case "ABORT":
			return replyError("ERR No shutdown in progress.")
		default:
			return errSyntax
		}
	}
	if c.s.cfg.OnShutdown == nil {
		return errors.New("SHUTDOWN is not possible here")
	}
	c.s.cfg.Logger.Info("SHUTDOWN was sent", "client", c.addr, "user", c.user.name)
	c.closing = true
	c.s.cfg.OnShutdown()
	return nil
}

// noAdmin refuses a subcommand that administers.
func noAdmin(name string) error {
	return replyError("NOPERM this user has no permissions to run the '" + name +
		"' command: without a password (--requirepass, --acl-file), redleaf is administered from the loopback interface only")
}
