package server

// commandTable returns the commands by name in lower case. One row a command.
func commandTable() map[string]*command {
	one, none, all := [3]int{1, 1, 1}, [3]int{}, [3]int{1, -1, 1}
	rows := []command{
		// Drawing ids.
		{"incr", 2, write | fast, one, "string", "1.0.0", "The next id, as an integer.", (*client).incr},
		{"incrby", 3, write | fast, one, "string", "1.0.0", "Reserve n contiguous ids; the reply is the last of them.", (*client).incrBy},
		{"get", 2, readonly | fast, one, "string", "1.0.0", "A new snowflake id, as a string.", (*client).get},
		{"mget", -2, readonly | fast, all, "string", "1.0.0", "A new snowflake id for each key.", (*client).mget},
		{"lpop", -2, write | fast, one, "list", "1.0.0", "Draw count ids in one reply.", (*client).pop},
		{"rpop", -2, write | fast, one, "list", "1.0.0", "Draw count ids in one reply.", (*client).pop},

		// Administering tags.
		{"set", -3, write | admin, one, "string", "1.0.0", "Create a tag, or move it forward: INCR gives n+1 next.", (*client).set},
		{"hset", -4, write | admin | fast, one, "hash", "2.0.0", "Change a tag's step or description.", (*client).hset},
		{"del", -2, write | admin, all, "generic", "1.0.0", "Retire tags.", (*client).del},

		// Looking at tags.
		{"hget", 3, readonly | fast, one, "hash", "2.0.0", "One field of a tag's state.", (*client).hget},
		{"hgetall", 2, readonly, one, "hash", "2.0.0", "A tag's row and its state on this node.", (*client).hgetAll},
		{"strlen", 2, readonly | fast, one, "string", "2.2.0", "How many digits an id has.", (*client).strlen},
		{"exists", -2, readonly | fast, all, "generic", "1.0.0", "How many of the keys are there.", (*client).existsCmd},
		{"type", 2, readonly | fast, one, "generic", "1.0.0", "string, or none.", (*client).typeCmd},
		{"ttl", 2, readonly | fast, one, "generic", "1.0.0", "-1: nothing expires. -2: no such key.", (*client).ttl},
		{"pttl", 2, readonly | fast, one, "generic", "2.6.0", "-1: nothing expires. -2: no such key.", (*client).ttl},
		{"keys", 2, readonly, none, "generic", "1.0.0", "Every segment key that matches.", (*client).keys},
		{"scan", -2, readonly, none, "generic", "2.8.0", "Segment keys, a few at a time.", (*client).scan},
		{"dbsize", 1, readonly | fast, none, "server", "1.0.0", "How many segment tags there are.", (*client).dbSize},

		// Transactions.
		{"multi", 1, immediate | fast, none, "transactions", "1.2.0", "Start a transaction.", (*client).multi},
		{"exec", 1, immediate, none, "transactions", "1.2.0", "Execute what was queued.", (*client).exec},
		{"discard", 1, immediate | fast, none, "transactions", "2.0.0", "Forget what was queued.", (*client).discard},
		{"watch", -2, immediate | fast, all, "transactions", "2.2.0", "Accepted; ids need no watching.", (*client).watch},
		{"unwatch", 1, fast, none, "transactions", "2.2.0", "Accepted.", (*client).unwatch},

		// The connection.
		{"ping", -1, fast, none, "connection", "1.0.0", "PONG, or the message.", (*client).ping},
		{"echo", 2, fast, none, "connection", "1.0.0", "The message.", (*client).echo},
		{"quit", -1, noAuth | immediate | fast, none, "connection", "1.0.0", "Close the connection.", (*client).quit},
		{"reset", 1, noAuth | immediate | fast, none, "connection", "6.2.0", "Make the connection as new.", (*client).reset},
		{"hello", -1, noAuth | fast, none, "connection", "6.0.0", "Choose the protocol, RESP2 or RESP3.", (*client).hello},
		{"auth", -2, noAuth | fast, none, "connection", "1.0.0", "Give the password.", (*client).auth},
		{"select", 2, fast, none, "connection", "1.0.0", "Accepted; every database shows the same ids.", (*client).selectDB},
		{"client", -2, 0, none, "connection", "2.4.0", "Name the connection, or describe it.", (*client).clientCmd},
		{"post", -1, noAuth | immediate, none, "connection", "3.2.0", "Closes the connection: HTTP is not spoken here.", (*client).tricked},
		{"host:", -1, noAuth | immediate, none, "connection", "3.2.0", "Closes the connection: HTTP is not spoken here.", (*client).tricked},

		// The server.
		{"info", -1, 0, none, "server", "1.0.0", "What the server, its store and its nodes are doing.", (*client).info},
		{"config", -2, 0, none, "server", "2.0.0", "CONFIG GET: settings under Redis's names.", (*client).configCmd},
		{"command", -1, 0, none, "server", "2.8.13", "The commands.", (*client).commandCmd},
		{"time", 1, fast, none, "server", "2.6.0", "Seconds and microseconds of this machine's clock.", (*client).timeCmd},
	}
	table := make(map[string]*command, len(rows))
	for i := range rows {
		table[rows[i].name] = &rows[i]
	}
	return table
}
