"""Draws ids from several nodes through redis-py: as a cluster, or found by sentinels, as the argument says."""

import os
import sys
import threading
import time

import redis
from redis.sentinel import Sentinel

ADDRS = [a.rsplit(":", 1) for a in os.environ["REDLEAF_ADDR"].split(",")]
lock = threading.Lock()


def tell(*words):
    with lock:
        print(*words, flush=True)


def connect():
    if sys.argv[1] == "cluster":
        if hasattr(redis, "RedisCluster"):
            from redis.cluster import ClusterNode, RedisCluster
            return RedisCluster(startup_nodes=[ClusterNode(h, int(p)) for h, p in ADDRS])
    return Sentinel([(h, int(p)) for h, p in ADDRS]).master_for("ids")


def work(db, number):
    i = number * 12
    while not os.path.exists(os.environ["REDLEAF_UP"]):
        tag, since = i % 100, time.monotonic()
        i += 1
        while True:
            try:
                drawn = db.incr(f"segment:t{tag}")
                tell("drew", tag, drawn, int((time.monotonic() - since) * 1000))
                break
            except Exception as err:  # whatever an application would see
                tell("failed", type(err).__name__, str(err).replace("\n", " "))
                time.sleep(0.02)
        time.sleep(0.02)


def main():
    tell("version", redis.__version__)
    db = connect()
    workers = [threading.Thread(target=work, args=(db, number)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


main()
