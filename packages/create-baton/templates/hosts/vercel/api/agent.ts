import { withWaitUntil } from '@batonjs/server/due';
import { waitUntil } from '@vercel/functions';
import { server } from '../src/main.ts';

/** Every request. What it leaves goes on after the reply: both within `maxDuration` of `vercel.json`. */
export default { fetch: withWaitUntil(server, { waitUntil, maxMs: 50_000 }) };
