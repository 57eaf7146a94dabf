"""Draws ids through redis-py."""

import os
import sys
import time

import redis


def tell(*words):
    print(*words)


def main():
    host, port = os.environ["REDLEAF_ADDR"].rsplit(":", 1)
    own = "segment:" + os.environ["REDLEAF_TAG"]
    shared = "segment:" + os.environ["REDLEAF_SHARED"]
    snowflake = "snowflake:" + os.environ["REDLEAF_TAG"]
    tell("version", redis.__version__)
    db = redis.Redis(host=host, port=int(port), password=os.environ.get("REDLEAF_PASSWORD") or None)

    tell("own", db.incr(own))
    tell("block", db.incrby(own, 1000))
    tell("snowflake", db.get(snowflake).decode())
    many(db.pipeline(transaction=False), "shared", shared, 10000)
    many(db.pipeline(transaction=True), "own", own, 100)
    for kind, key in (("own", own), ("snowflake", snowflake)):
        for member in db.lpop(key, 1000):
            tell(kind, member.decode())
    try:
        db.execute_command("REDLEAFNOPE", "a")
    except redis.ResponseError as err:
        tell("error", err)
    outage(db, shared)


def many(pipe, kind, key, n):
    """Sends n INCR in one pipeline, with MULTI around it or without."""
    for _ in range(n):
        pipe.incr(key)
    for drawn in pipe.execute():
        tell(kind, drawn)


def outage(db, key):
    """Draws until the server went away and came back, and 10 ids more."""
    tell("ready")
    failed, after, example = 0, 0, ""
    while after < 10:
        sys.stdout.flush()
        up = os.path.exists(os.environ["REDLEAF_UP"])
        try:
            tell("shared", db.incr(key))
            after += up
        except redis.RedisError as err:
            failed, example = failed + 1, str(err)
            time.sleep(0.02)
    tell("failed", failed, example)


main()
