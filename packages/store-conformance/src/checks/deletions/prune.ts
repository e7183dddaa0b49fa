import assert from 'node:assert/strict';
import { section } from '../../fixture/check.ts';
import { each, idsOf, refuses, same } from '../../fixture/expectations.ts';
import { answered, at, chunk, completed, created, received, status } from '../../samples/facts.ts';
import { type Log, logOf, present } from '../../samples/log.ts';
import { acquire, wanted, writer } from '../../samples/turns.ts';

export async function closed(log: Log, ms: number): Promise<void> {
  await log.commit([received('m1', log.contextId), created(log.taskId, log.contextId)], { once: 'key' });
  await log.commit([completed(at(ms))]);
}

export const pruneChecks = section('prune', {
  async 'erases one log that is closed, with its keys, and no other one'({ store, second }) {
    if (!store.erase) return;
    for (const taskId of ['t1', 't2']) {
      const log = await logOf(store, { taskId }).started();
      await log.append(chunk(1), 'once');
      await log.catchUp();
      if (taskId === 't1') assert.equal(await second.erase?.('s', 't1'), 'open');
      await log.commit([completed()]);
    }
    assert.equal(await store.erase('elsewhere', 't1'), undefined);
    assert.equal(await store.erase('s', 'unknown'), undefined);
    assert.deepEqual(await store.erase('s', 't1'), { facts: 4, webhooks: 0 });
    assert.equal(await second.erase?.('s', 't1'), undefined);
    assert.equal(await second.load('s', 't1'), undefined);
    assert.deepEqual(await second.readFacts('s', 't1', 0, 9), []);
    assert.equal((await second.list('s', { limit: 9 })).total, 1);
    assert.equal((await second.load('s', 't2'))?.version, 4);
    // Its keys are free again.
    const again = await logOf(second, { taskId: 't1' }).started();
    assert.equal((await again.append(chunk(1), 'once')).repeated ?? false, false);
  },

  async 'erases a log in the moment in which another one of its id begins'({ store }) {
    if (!store.erase) return;
    await closed(logOf(store), 1);
    const begins = logOf(store).create({ once: 'other key', commitId: 'again' });
    const [erased, begun] = await Promise.allSettled([store.erase('s', 't'), begins]);
    assert.deepEqual(erased, { status: 'fulfilled', value: { facts: 3, webhooks: 0 } });
    const kept = await store.load('s', 't');
    same(kept && each(kept.facts, 'commitId'), begun.status === 'fulfilled' ? ['again', 'again'] : undefined);
    assert.equal((await logOf(store, { taskId: 'next' }).create()).version, 2);
    assert.equal((await store.list('s', { limit: 9 })).total, kept ? 2 : 1);
  },

  async 'erases all of a log in the moment in which it began and ended'({ store }) {
    if (!store.erase) return;
    await Promise.all([
      logOf(store).commit([received(), created(), completed()]),
      logOf(store, { taskId: 'other' }).create(),
      store.erase('s', 't'),
    ]);
    await store.erase('s', 't');
    same(await store.readFacts('s', 't', 0, 9), []);
    same(await logOf(store).create({ commitId: 'again' }), { version: 2 });
    const { facts } = await logOf(store).load();
    same(each(facts, 'commitId'), ['again', 'again']);
  },

  async 'deletes closed logs whose status is older, whatever their scope'({ store }) {
    await closed(logOf(store, { taskId: 'old' }), 10);
    await closed(logOf(store, { taskId: 'old', scope: 's2' }), 9);
    await closed(logOf(store, { taskId: 'edge' }), 20);
    await closed(logOf(store, { taskId: 'new' }), 30);
    await logOf(store, { taskId: 'message' }).commit([received('m'), answered(at(3))]);
    assert.equal(await store.prune({ closedBefore: at(20), limit: 100 }), 3);
    for (const taskId of ['old', 'message']) assert.equal(await store.load('s', taskId), undefined);
    assert.equal(await store.load('s2', 'old'), undefined);
    for (const taskId of ['edge', 'new']) assert.equal((await store.load('s', taskId))?.version, 3);
    assert.equal(await store.prune({ closedBefore: at(20), limit: 100 }), 0);
  },

  async 'deletes a log of one scope beside one of the same id that ended at the same time'({
    store,
    second,
  }) {
    for (const scope of ['a', 'c', 'b']) await closed(logOf(store, { scope }), 10);
    if (store.erase) assert.deepEqual(await store.erase('b', 't'), { facts: 3, webhooks: 0 });
    for (const scope of ['a', 'c']) assert.equal((await second.load(scope, 't'))?.version, 3);
    assert.equal(await store.prune({ closedBefore: at(11), limit: 9 }), store.erase ? 2 : 3);
    for (const scope of ['a', 'b', 'c']) assert.equal(await second.load(scope, 't'), undefined);
  },

  async 'deletes a log so much later or earlier as its head says'({ store, second }) {
    for (const [taskId, keepMs] of [
      ['plain', undefined],
      ['longer', 1_000],
      ['shorter', -1_000],
    ] as const) {
      const log = await logOf(store, { taskId }).started();
      const facts = [completed(at(5_000))];
      await log.commit(facts, { head: { ...log.headAfter(facts), ...(keepMs !== undefined && { keepMs }) } });
    }
    const left = async () => idsOf((await second.list('s', { limit: 9 })).tasks);
    assert.equal(await store.prune({ closedBefore: at(4_001), limit: 9 }), 1);
    assert.deepEqual(await left(), ['plain', 'longer']);
    assert.equal(await second.prune({ closedBefore: at(5_001), limit: 9 }), 1);
    assert.deepEqual(await left(), ['longer']);
    assert.equal(await store.prune({ closedBefore: at(6_000), limit: 9 }), 0);
    assert.equal(await store.prune({ closedBefore: at(6_001), limit: 9 }), 1);
    assert.deepEqual(await left(), []);
  },

  async 'never deletes an open log, however old'({ store }) {
    const states = ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const;
    for (const state of states) {
      const log = await logOf(store, { taskId: state }).started();
      await log.commit([status(state)]);
    }
    await logOf(store, { taskId: 'begun' }).commit([received()]);
    assert.equal(await store.prune({ closedBefore: at(1e9), limit: 100 }), 0);
    assert.equal((await store.list('s', { limit: 9, answered: true })).total, 4);
  },

  async 'deletes at most as many as asked for'({ store }) {
    for (let n = 0; n < 7; n++) await closed(logOf(store, { taskId: `t${n}` }), n);
    for (const deleted of [3, 3, 1, 0])
      assert.equal(await store.prune({ closedBefore: at(100), limit: 3 }), deleted);
    same(await store.list('s', { limit: 9 }), { tasks: [], total: 0 });
  },

  async 'deletes all that belongs to a log: facts, list entries, keys, leases'({ store, reopen }) {
    const log = await logOf(store).started({ once: 'key', ...acquire('h') });
    await log.commit([chunk(1)], wanted);
    await log.commit([completed(at(1))]);
    await closed(logOf(store, { taskId: 'kept' }), 50);
    assert.equal(await store.prune({ closedBefore: at(10), limit: 100 }), 1);
    const again = await reopen();
    assert.equal(await again.load('s', 't'), undefined);
    const state = 'TASK_STATE_COMPLETED' as const;
    for (const query of [{}, { contextId: 'c' }, { state }, { answered: true }]) {
      const page = await again.list('s', { limit: 9, ...query });
      assert.deepEqual([page.total, ...idsOf(page.tasks)], [1, 'kept']);
    }
    assert.equal(await again.waiting('q'), 0);
    // A log of the same id is another log.
    const later = logOf(again);
    same(await later.create({ once: 'key' }), { version: 2 });
    same(each((await later.load()).facts, 'version'), [1, 2]);
    same(await later.append(chunk(1), 'other key'), { version: 3 });
  },

  async 'tells readers that know a log whether it was deleted on purpose or lost facts'({ store, second }) {
    for (const taskId of ['erased', 'pruned', 'lost']) {
      const log = await logOf(store, { taskId }).started({ commitId: 'known' });
      // Whatever the clock of the store says, it did not end long ago.
      await log.commit([completed('2100-01-01T00:00:00.000Z')]);
    }
    const read = (taskId: string, commitId: string) => second.readFacts('s', taskId, 2, 9, commitId);
    if (store.erase) await store.erase('s', 'erased');
    await refuses('LOG_DIVERGED', read('lost', 'another'));
    if (store.erase) await refuses('LOG_DELETED', read('erased', 'known'));
    assert.equal(
      await store.prune({ closedBefore: '2100-01-02T00:00:00.000Z', limit: 9 }),
      store.erase ? 2 : 3,
    );
    await refuses('LOG_DELETED', read('pruned', 'known'));
    // Another log of this name is not the one that the reader knows.
    await logOf(second, { taskId: 'pruned' }).create({ commitId: 'again' });
    await refuses('LOG_DELETED', read('pruned', 'known'));
    same((await second.readFacts('s', 'pruned', 1, 9, 'again')).length, 1);
    await refuses('LOG_DIVERGED', read('never', 'known'));
  },

  async 'keeps no log that was made of one that is gone'({ store, second }) {
    await logOf(store, { taskId: 'origin' }).commit([received(), created('origin'), completed()]);
    // Some stores keep tasks in parts, by their ids.
    const forks = Array.from({ length: 12 }, (_, n) => logOf(second, { taskId: `fork ${n}` }));
    const make = (log: Log) => log.create({ origin: 'origin', ...wanted });
    await make(present(forks.shift(), 'fork'));
    await Promise.all([store.erase?.('s', 'origin'), store.prune({ closedBefore: at(9e9), limit: 9 })]);
    for (const log of forks) await refuses('LOG_DELETED', make(log));
    const { tasks } = await store.list('s', { limit: 99, answered: true });
    assert.deepEqual(idsOf(tasks), ['fork 0']);
    assert.equal(await store.waiting('q'), 1);
    const fork = logOf(second, { taskId: 'fork 0' });
    await refuses('INVALID_COMMIT', fork.append(received('m2'), 'm', { origin: 'x' }));
  },

  async 'refuses late writes to a log that was deleted'({ store, second }) {
    const log = await logOf(store).started(acquire('h'));
    const late = log.prepare([chunk(1)], writer('h'));
    await log.commit([completed(at(1))], writer('h'));
    assert.equal(await second.prune({ closedBefore: at(10), limit: 9 }), 1);
    for (const handle of [store, second]) {
      await refuses('FENCED', handle.commit(late));
      await refuses('VERSION_CONFLICT', handle.commit({ ...late, writer: undefined }));
      await refuses('VERSION_CONFLICT', logOf(handle).append(chunk(1), 'late'));
      assert.equal(await handle.load('s', 't'), undefined);
    }
  },

  async 'leaves readers of a deleted log with nothing, or a gap'({ store }) {
    await closed(logOf(store), 1);
    await store.prune({ closedBefore: at(10), limit: 1 });
    const seen = await store.readFacts('s', 't', 1, 9).catch((error) => error.code);
    assert.ok(['"LOG_GAP"', '[]'].includes(JSON.stringify(seen)), `saw ${JSON.stringify(seen)}`);
  },
});
