package server

import "strings"

// A client that caches replies would issue an id twice. So CLIENT TRACKING is accepted only in the form in which nothing
// is cached unless CLIENT CACHING YES asks for it, which some clients need to connect; and that is refused together with
// the draw that follows, since those clients do not look at its reply.

const errCaching replyError = "ERR CLIENT CACHING YES is refused, and the draw it was for: a client that caches replies would issue an id twice"

// tracking is CLIENT TRACKING ON OPTIN | OFF.
func (c *client) tracking(args [][]byte) error {
	optIn := false
	for _, arg := range args[1:] {
		optIn = optIn || strings.EqualFold(string(arg), "OPTIN")
	}
	switch mode := strings.ToUpper(string(args[0])); {
	case mode == "OFF":
		c.optIn, c.caching = false, false
	case mode != "ON":
		return errSyntax
	case !optIn:
		return replyError("ERR CLIENT TRACKING ON is refused without OPTIN: a client that caches replies would issue an id twice")
	default:
		c.optIn = true
	}
	c.limit()
	c.status("OK")
	return nil
}

// cachingCmd is CLIENT CACHING YES | NO.
func (c *client) cachingCmd(args [][]byte) error {
	switch answer := strings.ToUpper(string(args[0])); {
	case !c.optIn:
		return replyError("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	case answer == "YES":
		c.caching = true
		return errCaching
	case answer != "NO":
		return errSyntax
	}
	c.status("OK")
	return nil
}

// mayCache refuses the draw whose reply a client means to cache. Inside a transaction that spoils the transaction, also
// when CLIENT CACHING YES itself stands in it.
func (c *client) mayCache(cmd *command, args [][]byte) error {
	switch {
	case c.caching && cmd.flags&draw != 0:
		c.caching = false
		return errCaching
	case c.optIn && c.tx.open && cmd.name == "client" && len(args) == 3 &&
		strings.EqualFold(string(args[1]), "CACHING") && strings.EqualFold(string(args[2]), "YES"):
		return errCaching
	}
	return nil
}

func (c *client) redirection() int64 {
	if c.optIn {
		return 0
	}
	return -1
}

func (c *client) trackingInfo([][]byte) error {
	c.mapOf(3)
	c.bulk("flags")
	if c.optIn {
		c.setOf(2)
		c.bulk("on")
		c.bulk("optin")
	} else {
		c.setOf(1)
		c.bulk("off")
	}
	c.bulk("redirect")
	c.int(c.redirection())
	c.bulk("prefixes")
	c.array(0)
	return nil
}
