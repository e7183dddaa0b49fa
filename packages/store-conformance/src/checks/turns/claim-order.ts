import assert from 'node:assert/strict';
import { section } from '../../fixture/check.ts';
import { elapse } from '../../fixture/expectations.ts';
import { working } from '../../samples/facts.ts';
import { logOf } from '../../samples/log.ts';

const ttlMs = 60_000;
const turn = { queue: 'q', want: true };

/**
 * How many newer tasks are given out before the check fails. A store in 16 parts that begins with another part each
 * time needs fewer, except once in 10⁸ runs.
 */
const most = 300;

export const claimOrderChecks = section('claim', {
  async 'gives every task its turn while newer tasks keep coming'(fixture) {
    const { store, now } = fixture;
    await logOf(store, { taskId: 'wanted' }).create({ turn });
    await logOf(store, { taskId: 'left' }).create({
      turn: { queue: 'q', acquire: { holder: 'x', ttlMs: 5 } },
    });
    const due = logOf(store, { taskId: 'due' });
    await due.create({ turn: { queue: 'q' } });
    const dueAt = new Date(now() - 1_000).toISOString();
    await due.commit([working()], { head: { ...due.headAfter([working()]), dueAt } });
    await elapse(fixture, 10);
    const old = new Set(['wanted', 'left', 'due']);
    for (let n = 0; old.size > 0; n++) {
      assert.ok(n < most, `${n} newer tasks were given out before these: ${[...old].join(', ')}`);
      await logOf(store, { taskId: `newer ${n}` }).create({ turn });
      const [lease] = await store.claim({ queue: 'q', holder: `h${n}`, ttlMs, limit: 1 });
      old.delete(lease?.taskId ?? '');
    }
  },

  async 'can ask for the task of one scope only'({ store, second }) {
    for (const scope of ['s1', 's2', 's3']) await logOf(store, { scope }).create({ turn });
    const claim = (holder: string, scope: string, more: object = {}) =>
      second.claim({ queue: 'q', holder, ttlMs, limit: 10, task: { scope, taskId: 't' }, ...more });
    const scopes = (leases: Awaited<ReturnType<typeof claim>>) => leases.map(({ scope }) => scope);
    assert.deepEqual(scopes(await claim('a', 's2')), ['s2']);
    assert.deepEqual(scopes(await claim('a', 's2')), ['s2'], 'and again for its holder');
    assert.deepEqual(scopes(await claim('b', 's2')), []);
    assert.deepEqual(scopes(await claim('b', 'elsewhere')), []);
    assert.deepEqual(scopes(await claim('b', 's1', { queue: 'other' })), []);
    assert.deepEqual(scopes(await claim('a', 's3')), ['s3']);
    const rest = await second.claim({ queue: 'q', holder: 'c', ttlMs, limit: 10 });
    assert.deepEqual(scopes(rest), ['s1']);
  },
});
