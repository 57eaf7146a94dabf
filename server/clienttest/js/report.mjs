// How a client program talks to the runner: lines on standard output, settings from the environment.

import { existsSync, readFileSync } from 'node:fs';

const { REDLEAF_ADDR, REDLEAF_PASSWORD, REDLEAF_TAG, REDLEAF_SHARED, REDLEAF_UP } = process.env;

const colon = (REDLEAF_ADDR ?? '').lastIndexOf(':');
export const host = REDLEAF_ADDR.slice(0, colon);
export const port = Number(REDLEAF_ADDR.slice(colon + 1));
export const password = REDLEAF_PASSWORD || undefined;
export const own = `segment:${REDLEAF_TAG}`;
export const shared = `segment:${REDLEAF_SHARED}`;
export const snowflake = `snowflake:${REDLEAF_TAG}`;

export const tell = (...words) => process.stdout.write(words.join(' ') + '\n');

export const tellAll = (kind, ids) => ids.forEach((id) => tell(kind, id));

export function tellVersion(library) {
  const { version } = JSON.parse(readFileSync(`node_modules/${library}/package.json`));
  tell('version', version);
}

// Draws until the server went away and came back, and 10 ids more.
export async function outage(draw) {
  tell('ready');
  let failed = 0;
  let example = '';
  for (let after = 0; after < 10; ) {
    const up = existsSync(REDLEAF_UP);
    try {
      tell('shared', await draw());
      if (up) after++;
    } catch (err) {
      failed++;
      example = err.message.replaceAll('\n', ' ');
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  tell('failed', failed, example);
}
