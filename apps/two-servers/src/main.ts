/** Finds a store, starts two servers, a worker and a proxy, talks to them as a client would, and checks every answer. */
import { randomUUID } from 'node:crypto';
import { openStore } from '@batonjs/sample-store';
import { startRedis } from './redis.ts';
import { rehearse } from './rehearse.ts';

process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
try {
  const BATON_STORE = process.env.BATON_STORE || (await startRedis());
  await (await openStore(BATON_STORE, { shared: true })).close();
  await rehearse({ BATON_STORE, AGENT: `counter-${randomUUID()}` });
  console.log('All as it should be');
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
