import { randomUUID } from 'node:crypto';
import { type ClaimRequest, claimed, type Row, type TaskStore } from '@batonjs/store';
import { createClient } from 'redis';
import { afterAll, describe, expect, it } from 'vitest';
import { chunk, chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { redisStore } from '../../src/index.ts';

const redis = await redisForTests();
afterAll(() => redis?.stop());

const past = '2020-01-01T00:00:00.000Z';
const future = '2040-01-01T00:00:00.000Z';

/** How a row comes about: everything that a claim is decided on. */
interface Case {
  readonly queue: string;
  readonly wanted: boolean;
  readonly dueAt: string | undefined;
  readonly closed: boolean;
  /** A lease of 0 ms has run out when it is granted. */
  readonly lease: { readonly holder: string; readonly ttlMs: number } | undefined;
}

const cases: readonly Case[] = ['q', 'other'].flatMap((queue) =>
  [false, true].flatMap((wanted) =>
    [undefined, past, future].flatMap((dueAt) =>
      [false, true].flatMap((closed) =>
        [
          undefined,
          { holder: 'me', ttlMs: 0 },
          { holder: 'me', ttlMs: 60_000 },
          { holder: 'them', ttlMs: 0 },
          { holder: 'them', ttlMs: 60_000 },
        ].map((lease) => ({ queue, wanted, dueAt, closed, lease })),
      ),
    ),
  ),
);

async function bringAbout(store: TaskStore, taskId: string, one: Case): Promise<void> {
  const { queue, wanted, dueAt, closed, lease } = one;
  const acquire = lease && { acquire: lease };
  await store.commit(chunkAfter(0, { taskId, head: headAt(1, { dueAt }), turn: { queue, ...acquire } }));
  if (wanted) {
    const open = { expectedVersion: 'open', head: undefined, once: 'message' } as const;
    await store.commit(chunkAfter(1, { taskId, facts: [chunk(2)], ...open, turn: { queue, want: true } }));
  }
  const version = wanted ? 2 : 1;
  if (closed) await store.commit(chunkAfter(version, { taskId, head: headAt(version + 1, { closed }) }));
}

const readRow = `
local kept = redis.call('HMGET', KEYS[1], 'version', 'head', 'until', 'row')
local fence, holder, queue, wanted = cmsgpack.unpack(kept[4])
return {kept[1], kept[2], kept[3] or '', fence, holder, queue, wanted and 1 or 0}`;

describe.skipIf(!redis)('The claim in Lua', () => {
  it('does to every kind of row what `claimed` does', async () => {
    const prefix = `test-${randomUUID()}`;
    const store = redisStore({ url: redis!.url, prefix, shards: 1 });
    const client = await createClient({ url: redis!.url }).connect();
    const rowOf = async (taskId: string): Promise<Row> => {
      const keys = [`${prefix}:{0}:task:${taskId}\0s`];
      const kept = (await client.eval(readRow, { keys })) as [...string[], number];
      const [version, head, leaseUntil, fence, holder, queue, wanted] = kept;
      return {
        version: Number(version),
        head: JSON.parse(String(head)),
        queue: String(queue),
        wanted: wanted === 1,
        fence: Number(fence),
        ...(holder !== '' && { holder: String(holder), leaseUntil: Number(leaseUntil) }),
      };
    };
    const causes: Record<string, number> = {};
    for (const [n, one] of cases.entries()) {
      const taskId = `t${n}`;
      await bringAbout(store, taskId, one);
      const before = await rowOf(taskId);
      expect([before.queue, before.holder]).toEqual([one.queue, one.closed ? undefined : one.lease?.holder]);
      const request: ClaimRequest = { queue: 'q', holder: 'me', ttlMs: 1_000, limit: 10, taskId };
      const [lease] = await store.claim(request);
      const after = await rowOf(taskId);
      // The claim went by the clock of Redis: the end of the lease shows its time.
      const now = lease ? after.leaseUntil! - request.ttlMs : Date.now();
      const expected = claimed(before, request, now);
      expect([one, lease?.cause, after]).toEqual([one, expected?.cause, expected?.row ?? before]);
      expect(lease?.fence).toBe(expected?.row.fence);
      causes[lease?.cause ?? 'none'] = (causes[lease?.cause ?? 'none'] ?? 0) + 1;
    }
    expect(Object.keys(causes).sort()).toEqual(['due', 'expired', 'held', 'none', 'wanted']);
    await client.close();
    await store.close();
  });
});
