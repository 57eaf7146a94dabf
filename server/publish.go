package server

import (
	"slices"
	"time"
)

// post is a message on its way to a connection.
type post struct{ channel, message string }

// announce publishes a message to every connection that listens. Each is woken and writes for itself, so that the message
// never falls into the middle of a reply.
func (s *Server) announce(channel, message string) {
	for _, c := range s.all() {
		if !c.isType(true, false) {
			continue
		}
		c.mu.Lock()
		c.posts = append(c.posts, post{channel, message})
		c.mu.Unlock()
		c.posted.Store(true)
		c.conn.SetReadDeadline(time.Now()) // wakes it
	}
}

// deliver writes the messages that have come, as far as the connection listens to their channels, and reports whether it could.
func (c *client) deliver() bool {
	if !c.posted.Swap(false) {
		return true
	}
	c.mu.Lock()
	posts := c.posts
	c.posts = nil
	c.mu.Unlock()
	for _, p := range posts {
		c.message(p)
	}
	return c.flushNow() == nil
}

func (c *client) message(p post) {
	if slices.Contains(c.subs.channels, p.channel) {
		c.push(3)
		c.bulk("message")
		c.bulk(p.channel)
		c.bulk(p.message)
	}
	for _, pattern := range c.subs.patterns {
		if glob(pattern, p.channel) {
			c.push(4)
			c.bulk("pmessage")
			c.bulk(pattern)
			c.bulk(p.channel)
			c.bulk(p.message)
		}
	}
}
