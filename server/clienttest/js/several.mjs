// Draws ids from several nodes, with the client that the argument names.

import { existsSync } from 'node:fs';

import { tell, tellVersion } from './report.mjs';

const nodes = process.env.REDLEAF_ADDR.split(',').map((addr) => {
  const colon = addr.lastIndexOf(':');
  return { host: addr.slice(0, colon), port: Number(addr.slice(colon + 1)) };
});
const pause = () => new Promise((done) => setTimeout(done, 20));

const kinds = {
  async ioredis() {
    const { default: Redis } = await import('ioredis');
    return new Redis.Cluster(nodes);
  },
  async 'ioredis-sentinel'() {
    const { default: Redis } = await import('ioredis');
    return new Redis({ sentinels: nodes, name: 'ids' });
  },
  async 'ioredis-plain'() {
    const { default: Redis } = await import('ioredis');
    return new Redis(nodes[0]);
  },
  async redis() {
    return noderedis({});
  },
  async 'redis-replicas'() {
    return noderedis({ useReplicas: true });
  },
};

async function noderedis(options) {
  const { createCluster } = await import('redis');
  const db = createCluster({ rootNodes: nodes.map((socket) => ({ socket })), ...options });
  db.on('error', () => {});
  await db.connect();
  return db;
}

const kind = process.argv[2];
tellVersion(kind.split('-')[0]);
const db = await kinds[kind]();
db.on('error', () => {});

async function work(number) {
  let since = Date.now();
  for (let i = number * 12; !existsSync(process.env.REDLEAF_UP); i++) {
    const tag = i % 100;
    try {
      tell('drew', tag, await db.incr(`segment:t${tag}`), Date.now() - since);
      since = Date.now() + 20;
    } catch (err) {
      tell('failed', String(err.message).replaceAll('\n', ' '));
    }
    await pause();
  }
}

await Promise.all(Array.from({ length: 8 }, (_, number) => work(number)));
process.exit(0);
