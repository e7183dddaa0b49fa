import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { chunk, chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { nodeRedis } from '../../src/connection/node-redis.ts';
import { redisStore } from '../../src/index.ts';
import { changedDriver } from '../changed-driver.ts';

const redis = await redisForTests();

const length = 1_200;
const facts = Array.from({ length }, (_, n) => chunk(n + 1));

/** A store, and what to do once after its next command. */
function open() {
  const prefix = `test-${randomUUID()}`;
  const driver = nodeRedis({ urls: [redis!.url], timeoutMs: 20_000 });
  const after: { next?: () => unknown } = {};
  const watched = changedDriver(driver, {
    command: async (key: string, args: readonly string[]) => {
      const reply = await driver.command(key, args);
      const { next } = after;
      delete after.next;
      await next?.();
      return reply;
    },
  });
  const store = closedAfterTest(redisStore({ driver: watched, prefix }));
  return { store, other: closedAfterTest(redisStore({ url: redis!.url, prefix })), after };
}

it.skipIf(!redis)('A long log is one of one moment, whatever is added while it is read', async () => {
  const { store, other, after } = open();
  await store.commit(chunkAfter(0, { facts, head: headAt(length), snapshot: { version: 100 } as never }));
  after.next = () => other.commit(chunkAfter(length));
  const log = await store.load('s', 't');
  expect([log?.version, log?.facts.length, log?.facts.at(-1)?.version]).toEqual([length, 1_100, length]);
});

it.skipIf(!redis)('A long log that is deleted while it is read is none', async () => {
  const { store, other, after } = open();
  await store.commit(chunkAfter(0, { facts, head: headAt(length, { closed: true }) }));
  after.next = () => other.erase!('s', 't');
  expect(await store.load('s', 't')).toBeUndefined();
});
