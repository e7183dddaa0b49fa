import { randomUUID } from 'node:crypto';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { runCheck, taskStoreChecks } from '@batonjs/store-conformance/checks';
import { afterAll, describe, it } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { redisForTests } from '../../../test/support/redis.ts';
import { startStoreProcess } from '../../../test/support/remote-stores.ts';
import { type RedisStoreOptions, redisStore } from '../src/index.ts';

const redis = await redisForTests();
const other = redis && startStoreProcess();
afterAll(async () => {
  await other?.kill();
});

const ofOneShard = ['a schedule', 'claim', 'take', 'subscribe', 'follow', 'close', 'races'];

/** What goes over the connection of a subscription. */
const ofOneConnection = ['subscribe', 'follow', 'close'];

/** A busy machine answers late: no check is about that. */
const timeoutMs = 20_000;
const optionsFor = (shards: number) => ({
  url: redis!.url,
  prefix: `test-${randomUUID()}`,
  shards,
  timeoutMs,
});

/** Several shards have an order of turns each, which `schedules.test.ts` is about; the suite asks for one over all. */
const open = (options: RedisStoreOptions) => ({
  ...redisStore(options),
  ...(options.shards !== 1 && { schedules: false }),
});

const alone = (shards: number) => () => {
  const options = optionsFor(shards);
  const store = open(options);
  return {
    store,
    async reopen() {
      await store.close();
      return open(options);
    },
  };
};

const shared =
  (shards: number, connections: 1 | 2 = 2) =>
  () => {
    const options = { ...optionsFor(shards), connections };
    const store = open(options);
    return {
      store,
      second: open(options),
      async reopen() {
        await store.close();
        return open(options);
      },
    };
  };

const betweenProcesses = (shards: number) => () => {
  const options = optionsFor(shards);
  const store = open(options);
  return {
    store,
    second: other!.open('redis', options),
    async reopen() {
      await store.close();
      return open(options);
    },
  };
};

describe.skipIf(!redis)('Redis', () => {
  const shards = repetitions(4, 16);
  const twoShare = 'redisStore that two share';
  // What two share, one has alone, too; and two processes share what two handles of one do.
  const onlyLong = [
    ['redisStore with one shard', alone(1)],
    [twoShare, shared(1)],
    [`redisStore with ${shards} shards`, alone(shards)],
  ] as const;
  for (const [name, opened] of [
    ...onlyLong.slice(0, repetitions(0, onlyLong.length)),
    [`redisStore with ${shards} shards that two processes share`, betweenProcesses(shards)],
  ] as const) {
    describeTaskStore(name, opened, { runs: repetitions(6, 50) });
    describePushConfigStore(name, opened);
  }
  // One shard has one order of turns, and notifies by itself: the rest is the same with several.
  if (!repetitions(0, 1))
    describe(twoShare, () => {
      for (const check of taskStoreChecks.filter(({ section }) => ofOneShard.includes(section)))
        it(`${check.section}: ${check.title}`, () => runCheck(check, shared(1), { runs: 6 }));
    });
  describe('redisStore that two share, with one connection each', () => {
    for (const check of taskStoreChecks.filter(({ section }) => ofOneConnection.includes(section)))
      it(`${check.section}: ${check.title}`, () => runCheck(check, shared(1, 1), { runs: 6 }));
  });
});
