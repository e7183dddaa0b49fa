import assert from 'node:assert/strict';
import { deletionsOf } from '@batonjs/store/rules';
import { section } from '../../fixture/check.ts';
import { each, refuses } from '../../fixture/expectations.ts';
import { at, completed, created, received } from '../../samples/facts.ts';
import { logOf } from '../../samples/log.ts';
import { claim, wanted } from '../../samples/turns.ts';
import { closed } from './prune.ts';

export const deletionChecks = section('deletions', {
  async 'remembers what it deleted, in the same step, for first commits that ask'({ store, second, reopen }) {
    const ids = Array.from({ length: 9 }, (_, n) => `t${n}`);
    for (const taskId of ids) await closed(logOf(store, { taskId }), 1);
    const asking = { unlessDeleted: true, ...wanted };
    const repeat = (handle: typeof store, taskId: string) =>
      logOf(handle, { taskId }).create({ ...asking, commitId: `again ${taskId}` });
    await refuses('LOG_CLOSED', repeat(second, 't0'));
    const mustBeRefused = async (racing: readonly unknown[]) => {
      for (const { status, ...rest } of await Promise.allSettled(racing))
        assert.equal(status, 'rejected', `a message began another task: ${JSON.stringify(rest)}`);
    };
    const racing = ids.flatMap((taskId) => [repeat(store, taskId), repeat(second, taskId)]);
    let isOver = false;
    const deleting = Promise.all([
      ...ids.slice(0, 4).map((taskId) => store.erase?.('s', taskId)),
      ...[store, second].map((handle) => handle.prune({ closedBefore: at(10), limit: 99 })),
    ]).finally(() => {
      isOver = true;
    });
    // Each sees the task or its deletion: never neither, and never both.
    try {
      await mustBeRefused(racing);
      while (!isOver) {
        await mustBeRefused(ids.map((taskId) => repeat(second, taskId)));
        for (const { name } of await second.listRecords({ prefix: deletionsOf('s'), limit: 99 }))
          assert.equal(await second.load('s', name.slice(deletionsOf('s').length)), undefined);
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      await deleting;
    }
    await store.prune({ closedBefore: at(10), limit: 99 });
    for (const taskId of ids) await refuses('LOG_DELETED', repeat(second, taskId));
    assert.equal(await second.waiting('q'), 0);
    // In another scope, and for a commit that does not ask, a log may have the name.
    assert.equal((await logOf(second, { scope: 's2', taskId: 't0' }).create(asking)).version, 2);
    assert.equal((await logOf(second, { taskId: 't0' }).create()).version, 2);
    await refuses('VERSION_CONFLICT', repeat(store, 't0'));
    await refuses('INVALID_COMMIT', logOf(store, { taskId: 't0' }).append(received('m'), 'm', asking));
    // Its deletion is remembered again.
    await logOf(store, { taskId: 't1' }).commit([received(), created('t1'), completed(at(1))]);
    assert.equal(await store.prune({ closedBefore: at(10), limit: 99 }), 1);
    await refuses('LOG_DELETED', repeat(second, 't1'));
    await refuses('LOG_DELETED', repeat(await reopen(), 't8'));
  },

  async 'remembers deletions of a scope under a prefix, until they are deleted'({ store, second }) {
    // Two have the same number as a topic.
    const scopes = ['caller 85949', 'caller 1105002', 's'];
    for (const scope of scopes)
      for (const taskId of ['t1', 't2']) await closed(logOf(store, { scope, taskId }), 1);
    assert.equal(await store.prune({ closedBefore: at(10), limit: 99 }), 6);
    const kept = await second.listRecords({ limit: 99 });
    assert.equal(kept.length, 6);
    assert.ok(!JSON.stringify(kept).includes('caller'));
    const [forgotten = '', ...others] = scopes;
    const records = await second.listRecords({ prefix: deletionsOf(forgotten), limit: 9 });
    assert.equal(records.length, 2);
    for (const { name } of records) assert.equal(await second.deleteRecord(name), true);
    for (const taskId of ['t1', 't2']) {
      // A reader that is behind hears of it all the same.
      const behind = logOf(store, { scope: forgotten, taskId });
      await refuses('LOG_DELETED', store.readFacts(forgotten, taskId, 2, 9, 'known'));
      assert.equal((await behind.create({ unlessDeleted: true })).version, 2);
      await refuses('LOG_DELETED', store.readFacts(forgotten, taskId, 2, 9, 'known'));
      for (const scope of others)
        await refuses('LOG_DELETED', logOf(store, { scope, taskId }).create({ unlessDeleted: true }));
    }
    await refuses('LOG_DIVERGED', store.readFacts(forgotten, 't3', 2, 9, 'known'));
  },

  async 'gives the next turn to a caller whose last one it is to forget'({ store, second }) {
    if (!store.schedules || !store.forgetTurns) return;
    const served = async (round: number) => {
      let order = '';
      // All three may come in one millisecond.
      for (const [n, scope] of ['a', 'b', 'c'].entries())
        await logOf(store, { scope, taskId: `${round}` }).create({
          turn: { ...wanted.turn, aheadMs: 30 - 10 * n },
        });
      for (const n of [1, 2, 3])
        order += each(await claim(second, `h${round}${n}`, { limit: 1, schedule: {} }), 'scope').join('');
      return order;
    };
    await store.forgetTurns('q', 'c');
    assert.equal(await served(1), 'abc');
    await second.forgetTurns?.('q', 'c');
    await store.forgetTurns('another queue', 'b');
    assert.equal(await served(2), 'cab');
  },
});
