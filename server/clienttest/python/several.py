"""Draws ids from several nodes through redis-py: as a cluster, found by sentinels, or behind one address, as the argument says."""

import os
import sys
import threading
import time

import redis
from redis.cluster import ClusterNode, RedisCluster
from redis.sentinel import Sentinel

ADDRS = [a.rsplit(":", 1) for a in os.environ["REDLEAF_ADDR"].split(",")]
lock = threading.Lock()


def tell(*words):
    with lock:
        print(*words, flush=True)


def connect():
    if sys.argv[1] == "cluster":
        return RedisCluster(startup_nodes=[ClusterNode(host, int(port)) for host, port in ADDRS])
    if sys.argv[1] == "plain":
        return redis.Redis(host=ADDRS[0][0], port=int(ADDRS[0][1]))
    return Sentinel([(host, int(port)) for host, port in ADDRS]).master_for("ids")


def work(db, number):
    i, since = number * 12, time.monotonic()
    while not os.path.exists(os.environ["REDLEAF_UP"]):
        tag = i % 100
        i += 1
        try:
            drawn = db.incr(f"segment:t{tag}")
            tell("drew", tag, drawn, int((time.monotonic() - since) * 1000))
            since = time.monotonic() + 0.02
        except Exception as err:  # whatever an application would see
            tell("failed", type(err).__name__, str(err).replace("\n", " "))
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
