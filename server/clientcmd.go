package server

import (
	"fmt"
	"strings"
	"time"
)

// clientCmd is CLIENT subcommand.
func (c *client) clientCmd(args [][]byte) error {
	sub, rest := strings.ToUpper(string(args[1])), args[2:]
	switch {
	case sub == "ID" && len(rest) == 0:
		c.int(c.id)
	case sub == "GETNAME" && len(rest) == 0:
		if c.name == "" {
			c.null()
		} else {
			c.bulk(c.name)
		}
	case sub == "SETNAME" && len(rest) == 1:
		return c.setName(rest[0])
	case sub == "SETINFO" && len(rest) == 2:
		return c.setInfo(rest[0], rest[1])
	case sub == "INFO" && len(rest) == 0:
		c.text(c.describe() + "\n")
	case sub == "NO-EVICT" && len(rest) == 1, sub == "NO-TOUCH" && len(rest) == 1:
		return c.onOff(rest[0])
	case sub == "HELP" && len(rest) == 0:
		c.help("CLIENT", "GETNAME", "ID", "INFO", "NO-EVICT (ON|OFF)", "NO-TOUCH (ON|OFF)", "SETINFO (LIB-NAME|LIB-VER) <value>", "SETNAME <name>")
	case clientArity(sub):
		return wrongArity("client|" + strings.ToLower(sub))
	default:
		return unknownSubcommand("CLIENT", args[1])
	}
	return nil
}

// clientArity reports whether the subcommand exists: then only its number of arguments was wrong.
func clientArity(sub string) bool {
	switch sub {
	case "ID", "GETNAME", "SETNAME", "SETINFO", "INFO", "NO-EVICT", "NO-TOUCH", "HELP":
		return true
	}
	return false
}

func (c *client) onOff(arg []byte) error {
	if s := strings.ToUpper(string(arg)); s != "ON" && s != "OFF" {
		return errSyntax
	}
	c.status("OK")
	return nil
}

func (c *client) setName(arg []byte) error {
	name, err := clientName(arg)
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
func (c *client) setInfo(attribute, value []byte) error {
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

// describe is the connection's line in CLIENT INFO.
func (c *client) describe() string {
	resp, multi := 2, -1
	if c.resp3 {
		resp = 3
	}
	if c.tx.open {
		multi = c.tx.queued
	}
	age := int(time.Since(c.created).Seconds())
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=0 name=%s age=%d idle=0 flags=N db=%d sub=0 psub=0 ssub=0 multi=%d "+
		"qbuf=%d qbuf-free=%d argv-mem=0 multi-mem=%d rbs=%d rbp=0 obl=%d oll=0 omem=%d tot-mem=%d events=r cmd=%s user=default "+
		"redir=-1 resp=%d lib-name=%s lib-ver=%s",
		c.id, c.conn.RemoteAddr(), c.conn.LocalAddr(), c.name, age, c.db, multi,
		len(c.in.unread()), len(c.in.buf)-len(c.in.unread()), len(c.tx.queue), cap(c.out), len(c.out), len(c.out),
		len(c.in.buf)+cap(c.out)+len(c.tx.queue), c.lastCommand, resp, c.libName, c.libVer)
}

// help replies with one line for each form of a command's subcommands.
func (c *client) help(command string, forms ...string) {
	c.array(len(forms) + 1)
	c.status(command + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, form := range forms {
		c.status(form)
	}
}
