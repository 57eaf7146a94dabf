// Draws ids through ioredis.

import Redis from 'ioredis';
import { host, outage, own, password, port, shared, snowflake, tell, tellAll, tellVersion } from './report.mjs';

tellVersion('ioredis');
const db = new Redis({ host, port, password });
// Without a listener ioredis writes every failed reconnect to standard error.
db.on('error', () => {});

tell('own', await db.incr(own));
tell('block', await db.incrby(own, 1000));
tell('snowflake', await db.get(snowflake));
tellAll('shared', await many(db.pipeline(), shared, 10000));
tellAll('own', await many(db.multi(), own, 100));
tellAll('own', await db.lpop(own, 1000));
tellAll('snowflake', await db.lpop(snowflake, 1000));
await db.call('REDLEAFNOPE', 'a').catch((err) => tell('error', err.message));
await outage(() => db.incr(shared));
db.disconnect();

// Sends n INCR in one pipeline, with MULTI around it or without.
async function many(pipeline, key, n) {
  for (let i = 0; i < n; i++) pipeline.incr(key);
  const replies = await pipeline.exec();
  return replies.map(([err, id]) => {
    if (err) throw err;
    return id;
  });
}
