import assert from 'node:assert/strict';
import { section } from '../../fixture/check.ts';
import { each, elapse } from '../../fixture/expectations.ts';
import { working } from '../../samples/facts.ts';
import { logOf } from '../../samples/log.ts';
import { acquire, claim, dueAfter, wanted } from '../../samples/turns.ts';

/**
 * How many newer tasks are given out before the check fails. A store in 16 parts that begins with another part each
 * time needs fewer, except once in 10⁸ runs.
 */
const most = 300;

export const claimOrderChecks = section('claim', {
  async 'gives every task its turn while newer tasks keep coming'(fixture) {
    const { store, now } = fixture;
    await logOf(store, { taskId: 'wanted' }).create(wanted);
    await logOf(store, { taskId: 'left' }).create(acquire('x', 5));
    const due = logOf(store, { taskId: 'due' });
    await due.create({ turn: { queue: 'q' } });
    await due.commit([working()], dueAfter(due, [working()], now() - 1_000));
    await elapse(fixture, 10);
    const old = new Set(['wanted', 'left', 'due']);
    for (let n = 0; old.size > 0; n++) {
      assert.ok(n < most, `${n} newer tasks were given out before these: ${[...old].join(', ')}`);
      await logOf(store, { taskId: `newer ${n}` }).create(wanted);
      const [lease] = await claim(store, `h${n}`, { limit: 1 });
      old.delete(lease?.taskId ?? '');
    }
  },

  async 'can ask for the task of one scope only'({ store, second }) {
    for (const scope of ['s1', 's2', 's3']) await logOf(store, { scope }).create(wanted);
    const scopes = async (holder: string, scope: string, more: object = {}) =>
      each(await claim(second, holder, { task: { scope, taskId: 't' }, ...more }), 'scope');
    assert.deepEqual(await scopes('a', 's2'), ['s2']);
    assert.deepEqual(await scopes('a', 's2'), ['s2'], 'and again for its holder');
    assert.deepEqual(await scopes('b', 's2'), []);
    assert.deepEqual(await scopes('b', 'elsewhere'), []);
    assert.deepEqual(await scopes('b', 's1', { queue: 'other' }), []);
    assert.deepEqual(await scopes('a', 's3'), ['s3']);
    assert.deepEqual(each(await claim(second, 'c'), 'scope'), ['s1']);
  },
});
