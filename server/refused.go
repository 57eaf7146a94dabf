package server

import "strings"

// refused says in plain words why a command of Redis is not here and what to use instead; "" for unknown commands. The
// error is plain ERR: clients retry READONLY and reconnect on it.
func refused(name string) string {
	for _, r := range []struct{ why, names string }{
		{"a tag only moves forward: SET key n [NX] moves it, INCR draws the next id",
			" decr decrby incrbyfloat getset getdel getex setnx setex psetex mset msetnx append setrange getrange substr setbit getbit bitcount bitfield bitfield_ro bitop bitpos lcs "},
		{"tags never expire: DEL retires one", " expire pexpire expireat pexpireat persist expiretime pexpiretime "},
		{"tags are retired one by one, with DEL, so that none is lost by mistake", " flushall flushdb swapdb "},
		{"a tag keeps its name, so that its ids are never issued again under another", " rename renamenx copy move dump restore migrate sort sort_ro "},
		{"ids are always at hand: LPOP key count draws as many", " blpop brpop blmpop lmpop lmove blmove rpoplpush brpoplpush "},
		{"redleaf hands out ids and keeps no lists: LPOP key count draws many at once",
			" lpush rpush lpushx rpushx llen lrange lindex linsert lset lrem ltrim lpos "},
		{"a tag's settings are changed with HSET key step n description d and read with HGETALL",
			" hdel hsetnx hincrby hincrbyfloat hmset hmget hkeys hvals hlen hexists hstrlen hscan hrandfield "},
		{"redleaf hands out ids and keeps no other data",
			" sadd srem smembers sismember smismember scard spop srandmember smove sinter sinterstore sintercard sunion sunionstore sdiff sdiffstore sscan" +
				" zadd zrem zscore zmscore zrange zrangestore zrevrange zrangebyscore zrevrangebyscore zrangebylex zrevrangebylex zcard zcount zlexcount zrank zrevrank zincrby zpopmin zpopmax zmpop" +
				" bzpopmin bzpopmax bzmpop zinter zinterstore zintercard zunion zunionstore zdiff zdiffstore zscan zrandmember zremrangebyrank zremrangebyscore zremrangebylex" +
				" xadd xlen xrange xrevrange xread xreadgroup xgroup xack xclaim xautoclaim xdel xtrim xinfo xpending xsetid pfadd pfcount pfmerge geoadd geodist geohash geopos geosearch" +
				" geosearchstore georadius georadius_ro georadiusbymember georadiusbymember_ro spublish ssubscribe sunsubscribe "},
		{"there are no scripts: MULTI and pipelines batch commands", " eval evalsha eval_ro evalsha_ro script function fcall fcall_ro "},
		{"the store is durable by itself", " save bgsave bgrewriteaof lastsave "},
		{"nodes share a database and do not replicate each other", " replicaof slaveof sync psync replconf failover "},
		{"it would show what other clients send: SLOWLOG and CLIENT LIST help", " monitor "},
		{"it is for developing Redis", " debug "},
	} {
		if strings.Contains(r.names, " "+name+" ") {
			return "ERR " + strings.ToUpper(name) + " is not supported: " + r.why
		}
	}
	return ""
}
