/* Draws ids through hiredis. */

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char own[200], shared[200], snowflake[200], host[200];
static int port;

static void settings(void) {
	const char *addr = getenv("REDLEAF_ADDR"), *tag = getenv("REDLEAF_TAG");
	const char *colon = strrchr(addr, ':');
	snprintf(host, sizeof host, "%.*s", (int)(colon - addr), addr);
	port = atoi(colon + 1);
	snprintf(own, sizeof own, "segment:%s", tag);
	snprintf(snowflake, sizeof snowflake, "snowflake:%s", tag);
	snprintf(shared, sizeof shared, "segment:%s", getenv("REDLEAF_SHARED"));
}

static void die(const char *what) {
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* Prints the ids of a reply and frees it. */
static void tell(const char *kind, redisReply *reply) {
	if (reply == NULL)
		die("no reply");
	if (reply->type == REDIS_REPLY_INTEGER) {
		printf("%s %lld\n", kind, reply->integer);
	} else if (reply->type == REDIS_REPLY_STRING) {
		printf("%s %s\n", kind, reply->str);
	} else if (reply->type == REDIS_REPLY_ARRAY) {
		for (size_t i = 0; i < reply->elements; i++) {
			redisReply *each = reply->element[i];
			if (each->type == REDIS_REPLY_INTEGER)
				printf("%s %lld\n", kind, each->integer);
			else
				printf("%s %s\n", kind, each->str);
		}
	} else {
		die(reply->str);
	}
	freeReplyObject(reply);
}

static void authenticate(redisContext *db) {
	const char *password = getenv("REDLEAF_PASSWORD");
	if (password == NULL || *password == 0)
		return;
	redisReply *reply = redisCommand(db, "AUTH %s", password);
	if (reply == NULL)
		return; /* the next command will fail, too */
	if (reply->type != REDIS_REPLY_STATUS)
		die(reply->str);
	freeReplyObject(reply);
}

static redisReply *next(redisContext *db) {
	void *reply = NULL;
	if (redisGetReply(db, &reply) != REDIS_OK)
		die(db->errstr);
	return reply;
}

static void pipeline(redisContext *db) {
	for (int i = 0; i < 10000; i++)
		redisAppendCommand(db, "INCR %s", shared);
	for (int i = 0; i < 10000; i++)
		tell("shared", next(db));
}

static void transaction(redisContext *db) {
	redisAppendCommand(db, "MULTI");
	for (int i = 0; i < 100; i++)
		redisAppendCommand(db, "INCR %s", own);
	redisAppendCommand(db, "EXEC");
	for (int i = 0; i < 101; i++)
		freeReplyObject(next(db));
	tell("own", next(db));
}

/* Draws until the server went away and came back, and 10 ids more. */
static void outage(redisContext *db) {
	int failed = 0;
	char example[200] = "";
	printf("ready\n");
	for (int after = 0; after < 10;) {
		fflush(stdout);
		int up = access(getenv("REDLEAF_UP"), F_OK) == 0;
		redisReply *reply = redisCommand(db, "INCR %s", shared);
		if (reply != NULL && reply->type == REDIS_REPLY_INTEGER) {
			tell("shared", reply);
			after += up;
			continue;
		}
		failed++;
		snprintf(example, sizeof example, "%s", reply != NULL ? reply->str : db->errstr);
		freeReplyObject(reply);
		usleep(20000);
		/* hiredis reconnects only when told to, and then starts without AUTH. */
		if (db->err && redisReconnect(db) == REDIS_OK)
			authenticate(db);
	}
	printf("failed %d %s\n", failed, example);
}

int main(void) {
	settings();
	printf("version %d.%d.%d\n", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
	redisContext *db = redisConnect(host, port);
	if (db == NULL || db->err)
		die("no connection");
	authenticate(db);
	tell("own", redisCommand(db, "INCR %s", own));
	tell("block", redisCommand(db, "INCRBY %s 1000", own));
	tell("snowflake", redisCommand(db, "GET %s", snowflake));
	pipeline(db);
	transaction(db);
	tell("own", redisCommand(db, "LPOP %s 1000", own));
	tell("snowflake", redisCommand(db, "LPOP %s 1000", snowflake));
	redisReply *reply = redisCommand(db, "REDLEAFNOPE a");
	if (reply != NULL && reply->type == REDIS_REPLY_ERROR)
		printf("error %s\n", reply->str);
	freeReplyObject(reply);
	outage(db);
	redisFree(db);
	return 0;
}
