import { randomUUID } from 'node:crypto';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { afterAll, describe } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { redisForTests } from '../../../test/support/redis.ts';
import { redisStore } from '../src/index.ts';
import { startStoreProcess } from './remote-stores.ts';

const redis = await redisForTests();
const other = redis && startStoreProcess();
afterAll(async () => {
  await other?.kill();
  await redis?.stop();
});

const optionsFor = (shards: number) => ({ url: redis!.url, prefix: `test-${randomUUID()}`, shards });

const alone = (shards: number) => () => {
  const options = optionsFor(shards);
  const store = redisStore(options);
  return {
    store,
    async reopen() {
      await store.close();
      return redisStore(options);
    },
  };
};

const shared = (shards: number) => () => {
  const options = optionsFor(shards);
  const store = redisStore(options);
  return {
    store,
    second: redisStore(options),
    async reopen() {
      await store.close();
      return redisStore(options);
    },
  };
};

const betweenProcesses = (shards: number) => () => {
  const options = optionsFor(shards);
  return { store: redisStore(options), second: other!.open(options) };
};

describe.skipIf(!redis)('Redis', () => {
  for (const [name, open] of [
    ['redisStore with one shard', alone(1)],
    ['redisStore with 16 shards', alone(16)],
    ['redisStore that two share', shared(1)],
    ['redisStore with 16 shards that two processes share', betweenProcesses(16)],
  ] as const) {
    describeTaskStore(name, open, { runs: repetitions(6, 50) });
    describePushConfigStore(name, open);
  }
});
