package server

// commandTable returns the commands by name in lower case. One row a command.
func commandTable() map[string]*command {
	one, two, none, all := [3]int{1, 1, 1}, [3]int{2, 2, 1}, [3]int{}, [3]int{1, -1, 1}
	rows := []command{
		// Drawing ids.
		{"incr", 2, write | fast | draw, one, "string", "1.0.0", "key", "The next id, as an integer.", "", (*client).incr, manyIncr, 0},
		{"incrby", 3, write | fast | draw, one, "string", "1.0.0", "key n", "Reserve n contiguous ids; the reply is the last of them.", "", (*client).incrBy, manyIncrBy, 0},
		{"get", 2, readonly | fast | draw, one, "string", "1.0.0", "key", "A new snowflake id, as a string.", "", (*client).get, manyGet, 0},
		{"mget", -2, readonly | fast | draw, all, "string", "1.0.0", "key...", "A new snowflake id for each key.", "", (*client).mget, nil, 0},
		{"lpop", -2, write | fast | draw, one, "list", "1.0.0", "key [count]", "Draw count ids in one reply.", "", (*client).pop, manyPop, 0},
		{"rpop", -2, write | fast | draw, one, "list", "1.0.0", "key [count]", "Draw count ids in one reply.", "", (*client).pop, manyPop, 0},

		// Administering tags.
		{"set", -3, write | admin, one, "string", "1.0.0", "key n [NX]", "Create a tag, or move it forward: INCR gives n+1 next.", "", (*client).set, nil, 0},
		{"hset", -4, write | admin | fast, one, "hash", "2.0.0", "key [STEP=step] [DESCRIPTION=description] [STRICT=strict]", "Change a tag's step or description, or whether its ids rise across all nodes.", "", (*client).hset, nil, 0},
		{"del", -2, write | admin, all, "generic", "1.0.0", "key...", "Retire tags.", "", (*client).del, nil, 0},
		{"unlink", -2, write | admin | fast, all, "generic", "4.0.0", "key...", "Retire tags.", "", (*client).del, nil, 0},

		// Looking at tags.
		{"hget", 3, readonly | fast, one, "hash", "2.0.0", "key field", "One field of a tag's state.", "", (*client).hget, nil, 0},
		{"hgetall", 2, readonly, one, "hash", "2.0.0", "key", "A tag's row and its state on this node.", "", (*client).hgetAll, nil, 0},
		{"strlen", 2, readonly | fast, one, "string", "2.2.0", "key", "How many digits an id has.", "", (*client).strlen, nil, 0},
		{"exists", -2, readonly | fast, all, "generic", "1.0.0", "key...", "How many of the keys are there.", "", (*client).existsCmd, nil, 0},
		{"touch", -2, readonly | fast, all, "generic", "3.2.1", "key...", "How many of the keys are there.", "", (*client).existsCmd, nil, 0},
		{"type", 2, readonly | fast, one, "generic", "1.0.0", "key", "string, or none.", "", (*client).typeCmd, nil, 0},
		{"ttl", 2, readonly | fast, one, "generic", "1.0.0", "key", "-1: nothing expires. -2: no such key.", "", (*client).ttl, nil, 0},
		{"pttl", 2, readonly | fast, one, "generic", "2.6.0", "key", "-1: nothing expires. -2: no such key.", "", (*client).ttl, nil, 0},
		{"object", -2, readonly | container, two, "generic", "2.2.3", "subcommand key", "OBJECT ENCODING: int.", "encoding:3 freq:3 idletime:3 refcount:3 help:2", (*client).object, nil, 0},
		{"memory", -2, readonly | container, two, "server", "4.0.0", "subcommand [key]", "MEMORY USAGE: about how many bytes a tag takes.", "doctor:2 usage:-3 help:2", (*client).memoryCmd, nil, 0},
		{"keys", 2, readonly, none, "generic", "1.0.0", "pattern", "Every segment key that matches.", "", (*client).keys, nil, 0},
		{"scan", -2, readonly, none, "generic", "2.8.0", "cursor [MATCH=pattern] [COUNT=count] [TYPE=type]", "Segment keys, a few at a time.", "", (*client).scan, nil, 0},
		{"randomkey", 1, readonly, none, "generic", "1.0.0", "", "A segment key.", "", (*client).randomKey, nil, 0},
		{"dbsize", 1, readonly | fast, none, "server", "1.0.0", "", "How many segment tags there are.", "", (*client).dbSize, nil, 0},

		// Transactions.
		{"multi", 1, immediate | fast, none, "transactions", "1.2.0", "", "Start a transaction.", "", (*client).multi, nil, 0},
		{"exec", 1, immediate, none, "transactions", "1.2.0", "", "Execute what was queued.", "", (*client).exec, nil, 0},
		{"discard", 1, immediate | fast, none, "transactions", "2.0.0", "", "Forget what was queued.", "", (*client).discard, nil, 0},
		{"watch", -2, immediate | fast, all, "transactions", "2.2.0", "key...", "Accepted; ids need no watching.", "", (*client).watch, nil, 0},
		{"unwatch", 1, fast, none, "transactions", "2.2.0", "", "Accepted.", "", (*client).unwatch, nil, 0},

		// The connection.
		{"ping", -1, fast | whileListening, none, "connection", "1.0.0", "[message]", "PONG, or the message.", "", (*client).ping, manyPing, 0},
		{"echo", 2, fast, none, "connection", "1.0.0", "message", "The message.", "", (*client).echo, nil, 0},
		{"quit", -1, noAuth | immediate | fast | whileListening, none, "connection", "1.0.0", "", "Close the connection.", "", (*client).quit, nil, 0},
		{"reset", 1, noAuth | immediate | fast | whileListening, none, "connection", "6.2.0", "", "Make the connection as new.", "", (*client).reset, nil, 0},
		{"hello", -1, noAuth | fast, none, "connection", "6.0.0", "[protover] [AUTH=username] [password] [SETNAME=clientname]", "Choose the protocol, RESP2 or RESP3.", "", (*client).hello, nil, 0},
		{"auth", -2, noAuth | fast, none, "connection", "1.0.0", "[username] password", "Say who you are.", "", (*client).auth, nil, 0},
		{"select", 2, fast, none, "connection", "1.0.0", "index", "Accepted; every database shows the same ids.", "", (*client).selectDB, nil, 0},
		{"client", -2, container, none, "connection", "2.4.0", "subcommand [argument...]", "Name the connection, describe or close connections.", "id:2 getname:2 setname:3 setinfo:4 info:2 list:-2 kill:-3 reply:3 no-evict:3 no-touch:3 tracking:-3 caching:3 trackinginfo:2 getredir:2 unblock:-3 unpause:2 help:2", (*client).clientCmd, nil, 0},
		{"post", -1, noAuth | immediate, none, "connection", "3.2.0", "", "Closes the connection: HTTP is not spoken here.", "", (*client).tricked, nil, 0},
		{"host:", -1, noAuth | immediate, none, "connection", "3.2.0", "", "Closes the connection: HTTP is not spoken here.", "", (*client).tricked, nil, 0},

		// Channels: nothing is ever published.
		{"subscribe", -2, whileListening, none, "pubsub", "2.0.0", "channel...", "Accepted; nothing is published but +switch-master, with --sentinel.", "", (*client).subscribe, nil, 0},
		{"unsubscribe", -1, whileListening, none, "pubsub", "2.0.0", "[channel...]", "Stop listening.", "", (*client).unsubscribe, nil, 0},
		{"psubscribe", -2, whileListening, none, "pubsub", "2.0.0", "pattern...", "Accepted; nothing is published.", "", (*client).psubscribe, nil, 0},
		{"punsubscribe", -1, whileListening, none, "pubsub", "2.0.0", "[pattern...]", "Stop listening.", "", (*client).punsubscribe, nil, 0},
		{"publish", 3, fast, none, "pubsub", "2.0.0", "channel message", "0: nobody receives it.", "", (*client).publish, nil, 0},
		{"pubsub", -2, container, none, "pubsub", "2.8.0", "subcommand [argument...]", "Empty.", "channels:-2 numpat:2 numsub:-2 help:2", (*client).pubsubCmd, nil, 0},

		// Redis Cluster, with --cluster.
		{"cluster", -2, container, none, "cluster", "3.0.0", "subcommand [argument...]", "The map of nodes, with --cluster.", "addslots:-3 addslotsrange:-4 bumpepoch:2 count-failure-reports:3 countkeysinslot:3 delslots:-3 delslotsrange:-4 failover:-2 flushslots:2 forget:3 getkeysinslot:4 help:2 info:2 keyslot:3 links:2 meet:-4 myid:2 nodes:2 replicas:3 replicate:3 reset:-2 saveconfig:2 set-config-epoch:3 setslot:-4 shards:2 slaves:3 slots:2", (*client).clusterCmd, nil, 0},
		{"readonly", 1, fast, none, "cluster", "3.0.0", "", "Any node will do for what follows; with --cluster.", "", (*client).readOnlyCmd, nil, 0},
		{"readwrite", 1, fast, none, "cluster", "3.0.0", "", "Ends READONLY; with --cluster.", "", (*client).readWriteCmd, nil, 0},
		{"asking", 1, fast, none, "cluster", "3.0.0", "", "Accepted, with --cluster.", "", (*client).asking, nil, 0},

		// The server.
		{"info", -1, 0, none, "server", "1.0.0", "[section...]", "What the server, its store and its nodes are doing.", "", (*client).info, nil, 0},
		{"config", -2, container, none, "server", "2.0.0", "subcommand [argument...]", "Read settings, or change those that can change now.", "get:-3 set:-4 resetstat:2 rewrite:2 help:2", (*client).configCmd, nil, 0},
		{"command", -1, container, none, "server", "2.8.13", "[subcommand] [argument...]", "The commands.", "count:2 docs:-2 getkeys:-3 info:-2 list:-2 help:2", (*client).commandCmd, nil, 0},
		{"acl", -2, container, none, "server", "6.0.0", "subcommand [argument...]", "Who you are, and who there is.", "cat:-2 list:2 users:2 whoami:2 help:2", (*client).aclCmd, nil, 0},
		{"slowlog", -2, container, none, "server", "2.2.12", "subcommand [count]", "Commands that were slow.", "get:-2 len:2 reset:2 help:2", (*client).slowlogCmd, nil, 0},
		{"latency", -2, container, none, "server", "2.8.13", "subcommand [argument...]", "How long commands take.", "doctor:2 histogram:-2 history:3 latest:2 reset:-2 help:2", (*client).latencyCmd, nil, 0},
		{"module", -2, container, none, "server", "4.0.0", "subcommand", "None.", "list:2 help:2", (*client).module, nil, 0},
		{"role", 1, fast, none, "server", "2.8.12", "", "master.", "", (*client).role, nil, 0},
		{"wait", 3, 0, none, "generic", "3.0.0", "n timeout", "0: there are no replicas.", "", (*client).waitCmd, nil, 0},
		{"time", 1, fast, none, "server", "2.6.0", "", "Seconds and microseconds of this machine's clock.", "", (*client).timeCmd, nil, 0},
		{"shutdown", -1, admin | noMulti, none, "server", "1.0.0", "[NOSAVE]", "Stop the node in order.", "", (*client).shutdown, nil, 0},

		// The last row: without --sentinel it is not there.
		{"sentinel", -2, container, none, "sentinel", "2.8.4", "subcommand [argument...]", "Where the master is: here.", "ckquorum:3 get-master-addr-by-name:3 is-master-down-by-addr:6 master:3 masters:2 myid:2 replicas:3 sentinels:3 slaves:3 help:2", (*client).sentinelCmd, nil, 0},
	}
	table := make(map[string]*command, len(rows))
	for i := range rows {
		rows[i].index = i
		table[rows[i].name] = &rows[i]
	}
	return table
}
