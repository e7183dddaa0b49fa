import { randomUUID } from 'node:crypto';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { afterAll, describe } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { canStart, startRedis } from '../../../test/support/redis.ts';
import { redisStore } from '../src/index.ts';

const valkey = (await canStart('valkey')) ? await startRedis({ family: 'valkey' }) : undefined;
afterAll(() => valkey?.stop());

describe.skipIf(!valkey)('Valkey', () => {
  const open = () => {
    const options = { url: valkey!.url, prefix: `test-${randomUUID()}` };
    return { store: redisStore(options), second: redisStore(options) };
  };
  // Its commands are those of Redis, with which these checks run each time: here they run in `test:long`.
  if (repetitions(0, 1)) describeTaskStore('redisStore', open, { runs: 50 });
  describePushConfigStore('redisStore', open);
});
