/** Starts Redis, two servers, a worker and a proxy, talks to them as a client would, and checks every answer. */
import { randomUUID } from 'node:crypto';
import { findRedis } from './redis.ts';
import { rehearse } from './rehearse.ts';

process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
try {
  const REDIS_URL = await findRedis();
  await rehearse({ REDIS_URL, PREFIX: `two-servers-${randomUUID()}` });
  console.log('All as it should be');
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
