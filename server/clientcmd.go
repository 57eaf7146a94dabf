package server

import (
	"strings"
	"time"
)

// clientCmd is CLIENT subcommand.
func (c *client) clientCmd(args [][]byte) error {
	name := strings.ToUpper(string(args[1]))
	for _, sub := range clientSubcommands() {
		if sub.name != name {
			continue
		}
		if n := len(args) - 2; n < sub.least || n > sub.most {
			return wrongArity("client|" + strings.ToLower(name))
		}
		return sub.run(c, args[2:])
	}
	return unknownSubcommand("CLIENT", args[1])
}

// clientSubcommand is one row of CLIENT's own table.
type clientSubcommand struct {
	name        string
	least, most int // arguments after the name
	run         func(*client, [][]byte) error
}

func clientSubcommands() []clientSubcommand {
	const many = 1 << 20
	return []clientSubcommand{
		{"ID", 0, 0, func(c *client, _ [][]byte) error { c.int(c.id); return nil }},
		{"GETNAME", 0, 0, (*client).getName},
		{"SETNAME", 1, 1, (*client).setName},
		{"SETINFO", 2, 2, (*client).setInfo},
		{"INFO", 0, 0, (*client).clientInfo},
		{"LIST", 0, many, (*client).clientList},
		{"KILL", 1, many, (*client).clientKillChecked},
		{"REPLY", 1, 1, (*client).clientReply},
		{"NO-EVICT", 1, 1, (*client).onOff},
		{"NO-TOUCH", 1, 1, (*client).onOff},
		{"TRACKING", 1, many, (*client).tracking},
		{"CACHING", 1, 1, (*client).cachingCmd},
		{"TRACKINGINFO", 0, 0, (*client).trackingInfo},
		{"GETREDIR", 0, 0, func(c *client, _ [][]byte) error { c.int(c.redirection()); return nil }},
		{"UNBLOCK", 1, 2, func(c *client, _ [][]byte) error { c.int(0); return nil }}, // nobody is blocked
		{"UNPAUSE", 0, 0, func(c *client, _ [][]byte) error { c.status("OK"); return nil }},
		{"HELP", 0, 0, (*client).clientHelp},
	}
}

func (c *client) clientHelp([][]byte) error {
	c.help("CLIENT", "GETNAME", "GETREDIR", "ID", "INFO", "KILL <addr> | <filter> <value> ...", "LIST [TYPE (NORMAL|PUBSUB)] [ID <id> ...]",
		"NO-EVICT (ON|OFF)", "NO-TOUCH (ON|OFF)", "REPLY (ON|OFF|SKIP)", "SETINFO (LIB-NAME|LIB-VER) <value>", "SETNAME <name>",
		"TRACKING (ON OPTIN|OFF)", "TRACKINGINFO", "UNPAUSE")
	return nil
}

func (c *client) getName([][]byte) error {
	if c.name == "" {
		c.null()
	} else {
		c.bulk(c.name)
	}
	return nil
}

func (c *client) clientInfo([][]byte) error {
	c.publishState(time.Now())
	c.text(c.describe() + "\n")
	return nil
}

// clientKillChecked is CLIENT KILL, for those who may administer.
func (c *client) clientKillChecked(args [][]byte) error {
	if !c.mayAdmin() {
		return noAdmin("client|kill")
	}
	return c.clientKill(args)
}

// clientReply is CLIENT REPLY ON | OFF | SKIP.
func (c *client) clientReply(args [][]byte) error {
	switch strings.ToUpper(string(args[0])) {
	case "ON":
		c.reply = replyOn
		c.status("OK")
	case "OFF":
		c.reply = replyOff
	case "SKIP":
		if c.reply != replyOff {
			c.reply = replySkipThis
		}
	default:
		return errSyntax
	}
	return nil
}

// replyMode says whether a command's reply is sent.
type replyMode uint8

const (
	replyOn       replyMode = iota
	replyOff                // none is
	replySkipThis           // CLIENT REPLY SKIP itself is running: the next command's is not
	replySkipNext           // the command that comes is the one
)

// muted reports whether the reply of the command that ran is to be dropped, and moves SKIP on.
func (c *client) muted() bool {
	switch c.reply {
	case replyOff:
		return true
	case replySkipThis:
		c.reply = replySkipNext
		return true
	case replySkipNext:
		c.reply = replyOn
		return true
	}
	return false
}

func (c *client) onOff(args [][]byte) error {
	if s := strings.ToUpper(string(args[0])); s != "ON" && s != "OFF" {
		return errSyntax
	}
	c.status("OK")
	return nil
}

func (c *client) setName(args [][]byte) error {
	name, err := clientName(args[0])
	if err != nil {
		return err
	}
	c.name = name
	c.status("OK")
	return nil
}

// clientName checks a name given to a connection: visible ASCII, so that it can stand in a list.
func clientName(arg []byte) (string, error) {
	if len(arg) > 4096 || !visible(arg) {
		return "", replyError("ERR Client names cannot contain spaces, newlines or special characters.")
	}
	return string(arg), nil
}

func visible(b []byte) bool {
	for _, c := range b {
		if c < '!' || c > '~' {
			return false
		}
	}
	return true
}

// setInfo is CLIENT SETINFO, which came with Redis 7.2: what library the client is.
func (c *client) setInfo(args [][]byte) error {
	attribute, value := args[0], args[1]
	if len(value) > 4096 || !visible(value) {
		return replyError("ERR " + strings.ToLower(string(clip(attribute, 64))) + " cannot contain spaces, newlines or special characters.")
	}
	switch strings.ToUpper(string(attribute)) {
	case "LIB-NAME":
		c.libName = string(value)
	case "LIB-VER":
		c.libVer = string(value)
	default:
		return replyError("ERR Unrecognized option '" + string(clip(attribute, 128)) + "'")
	}
	c.status("OK")
	return nil
}

// help replies with one line for each form of a command's subcommands.
func (c *client) help(command string, forms ...string) {
	c.array(len(forms) + 1)
	c.status(command + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, form := range forms {
		c.status(form)
	}
}
