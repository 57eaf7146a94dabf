// Shows that ids arrive exactly in JavaScript, whose numbers are exact to 2^53 only. It takes every id apart by itself;
// the runner compares that with what redleaf makes of the same id. Arguments: the library, and strings or numbers.

import { host, password, port, snowflake, tell } from './report.mjs';

// The default of redleaf serve --epoch.
const epoch = 1288834974657;

const [library, want] = process.argv.slice(2);
const db = await connect(library);
await (want === 'strings' ? strings() : numbers());
await db.close();

// The default layout: 41 bits of time, 10 of worker, 12 of sequence.
async function strings() {
  const ids = await db.lpop(snowflake, 1000);
  for (let i = 0; i < 1000; i++) ids.push(await db.get(snowflake));
  let rounded = 0;
  for (const text of ids) {
    if (typeof text !== 'string') throw new Error(`${text} is no string`);
    const id = BigInt(text);
    tell('id', text, epoch + Number(id >> 22n), (id >> 12n) & 1023n, id & 4095n);
    if (BigInt(Number(text)) !== id) rounded++;
  }
  tell('rounded', rounded);
  // An integer reply would be rounded, so there is none.
  await db.incr(snowflake).then((id) => tell('integer', id), (err) => tell('refused', err.message));
}

// --bits js53: 41 bits of time, 5 of worker, 7 of sequence. No BigInt here, as in a program that keeps ids as numbers.
async function numbers() {
  for (let i = 0; i < 2000; i++) {
    const id = await db.incr(snowflake);
    if (!Number.isSafeInteger(id)) throw new Error(`${typeof id} ${id} is no exact number`);
    tell('id', id, epoch + Math.floor(id / 4096), Math.floor(id / 128) % 32, id % 128);
  }
}

async function connect(library) {
  if (library === 'ioredis') {
    const { default: Redis } = await import('ioredis');
    const db = new Redis({ host, port, password });
    return {
      get: (key) => db.get(key),
      incr: (key) => db.incr(key),
      lpop: (key, n) => db.lpop(key, n),
      close: () => db.disconnect(),
    };
  }
  const { createClient } = await import(library);
  const db = createClient({ socket: { host, port }, password });
  await db.connect();
  return {
    get: (key) => db.get(key),
    incr: (key) => db.incr(key),
    lpop: (key, n) => db.lPopCount(key, n),
    close: () => db.disconnect(),
  };
}
