import { randomUUID } from 'node:crypto';
import type { TaskStore } from '@batonjs/store';
import { redisStore } from '@batonjs/store-redis';
import { afterAll, afterEach, describe } from 'vitest';
import { lossScenarios } from '../packages/server/test/scenarios/loss.ts';
import { severalServersScenarios } from '../packages/server/test/scenarios/several-servers.ts';
import { redisForTests } from './support/redis.ts';

const redis = await redisForTests();
const open: TaskStore[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
});
afterAll(() => redis?.stop());

/** Each has its own part of the one Redis. */
function newStore(): TaskStore {
  const store = redisStore({ url: redis?.url, prefix: `scenarios-${randomUUID()}` });
  open.push(store);
  return store;
}

describe.skipIf(!redis)('on Redis', () => {
  describe('what an agent said', () => lossScenarios(newStore, [0]));
  describe('several servers', () => severalServersScenarios(newStore));
});
