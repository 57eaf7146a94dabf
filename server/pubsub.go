package server

import (
	"slices"
	"strconv"
	"strings"
)

// maxChannels bounds the subscriptions of one connection.
const maxChannels = 1024

// subscriptions are the channels and patterns that a connection listens to. Nothing is ever published; clients that open
// such a connection, as StackExchange.Redis does, need only find that they may.
type subscriptions struct {
	channels, patterns []string
}

func (s *subscriptions) count() int { return len(s.channels) + len(s.patterns) }

// push starts an out-of-band reply of n elements: in RESP2 an array.
func (c *client) push(n int) {
	if !c.resp3 {
		c.array(n)
		return
	}
	c.out = append(c.out, '>')
	c.out = strconv.AppendInt(c.out, int64(n), 10)
	c.out = append(c.out, '\r', '\n')
}

func (c *client) confirm(kind, channel string) {
	c.push(3)
	c.bulk(kind)
	c.bulk(channel)
	c.int(int64(c.subs.count()))
}

// subscribe is SUBSCRIBE channel... and psubscribe PSUBSCRIBE pattern...
func (c *client) subscribe(args [][]byte) error {
	return c.listen("subscribe", &c.subs.channels, args[1:])
}
func (c *client) psubscribe(args [][]byte) error {
	return c.listen("psubscribe", &c.subs.patterns, args[1:])
}

func (c *client) listen(kind string, list *[]string, names [][]byte) error {
	if c.subs.count()+len(names) > maxChannels {
		return replyError("ERR at most " + strconv.Itoa(maxChannels) + " subscriptions a connection")
	}
	for _, name := range names {
		if !slices.Contains(*list, string(name)) {
			*list = append(*list, string(name))
		}
		c.confirm(kind, string(name))
	}
	c.limit()
	return nil
}

// unsubscribe is UNSUBSCRIBE [channel...] and punsubscribe PUNSUBSCRIBE [pattern...]; without names, all.
func (c *client) unsubscribe(args [][]byte) error {
	return c.unlisten("unsubscribe", &c.subs.channels, args[1:])
}
func (c *client) punsubscribe(args [][]byte) error {
	return c.unlisten("punsubscribe", &c.subs.patterns, args[1:])
}

func (c *client) unlisten(kind string, list *[]string, names [][]byte) error {
	if len(names) == 0 {
		for _, name := range *list {
			names = append(names, []byte(name))
		}
	}
	for _, name := range names {
		var rest []string
		for _, s := range *list {
			if s != string(name) {
				rest = append(rest, s)
			}
		}
		*list = rest
		c.confirm(kind, string(name))
	}
	if len(names) == 0 {
		c.push(3)
		c.bulk(kind)
		c.null()
		c.int(int64(c.subs.count()))
	}
	c.limit()
	return nil
}

// mayNot says why a command is refused while a RESP2 connection listens: replies could not be told from messages.
func (c *client) mayNot(cmd *command) error {
	if c.resp3 || c.subs.count() == 0 || cmd.flags&whileListening != 0 {
		return nil
	}
	return replyError("ERR Can't execute '" + cmd.name + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
}

// publish is PUBLISH channel message: nobody receives it.
func (c *client) publish([][]byte) error {
	c.int(0)
	return nil
}

// pubsubCmd is PUBSUB CHANNELS | NUMSUB | NUMPAT.
func (c *client) pubsubCmd(args [][]byte) error {
	switch strings.ToUpper(string(args[1])) {
	case "CHANNELS":
		c.array(0)
	case "NUMSUB":
		c.array(2 * len(args[2:]))
		for _, name := range args[2:] {
			c.bulk(string(name))
			c.int(0)
		}
	case "NUMPAT":
		c.int(0)
	case "HELP":
		c.help("PUBSUB", "CHANNELS [<pattern>]", "NUMPAT", "NUMSUB [<channel> ...]")
	default:
		return unknownSubcommand("PUBSUB", args[1])
	}
	return nil
}
