import { randomUUID } from 'node:crypto';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { redisStore } from '@batonjs/store-redis';

/** On the Redis of the run. Several shards have an order of turns each; the suite asks for one over all. */
const open = (shards: number) => () => {
  const store = redisStore({ url: process.env.REDIS_URL!, prefix: `test-${randomUUID()}`, shards });
  return { store: { ...store, ...(shards > 1 && { schedules: false }) } };
};

describeTaskStore('redisStore with one shard', open(1), { runs: 2 });
describePushConfigStore('redisStore with one shard', open(1));
describeTaskStore('redisStore with 3 shards', open(3), { runs: 1 });
