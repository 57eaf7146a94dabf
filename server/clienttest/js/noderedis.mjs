// Draws ids through node-redis, of the version that the argument names.

import { host, outage, own, password, port, shared, snowflake, tell, tellAll, tellVersion } from './report.mjs';

const library = process.argv[2];
const { createClient } = await import(library);
tellVersion(library);
const db = createClient({ socket: { host, port }, password });
// Without a listener node-redis ends the process when the connection breaks.
db.on('error', () => {});
await db.connect();

tell('own', await db.incr(own));
tell('block', await db.incrBy(own, 1000));
tell('snowflake', await db.get(snowflake));
// node-redis sends what is asked for in one turn of the event loop as one pipeline.
tellAll('shared', await Promise.all(Array.from({ length: 10000 }, () => db.incr(shared))));
const transaction = db.multi();
for (let i = 0; i < 100; i++) transaction.incr(own);
tellAll('own', await transaction.exec());
tellAll('own', await db.lPopCount(own, 1000));
tellAll('snowflake', await db.lPopCount(snowflake, 1000));
await db.sendCommand(['REDLEAFNOPE', 'a']).catch((err) => tell('error', err.message));
await outage(() => db.incr(shared));
await db.disconnect();
