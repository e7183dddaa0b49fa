import assert from 'node:assert/strict';
import type { Lease, TaskStore } from '@batonjs/store';
import { section } from '../../fixture/check.ts';
import { elapse, eventually, idsOf } from '../../fixture/expectations.ts';
import { cancelRequested, completed, working } from '../../samples/facts.ts';
import { logOf, nth } from '../../samples/log.ts';
import { claim, dueAfter, long, wanted, writer } from '../../samples/turns.ts';

const queue = 'q';
const ids = (tasks: readonly { readonly taskId: string }[]) => idsOf(tasks).sort();

/** Begins the turn of a task that is pinned to a version; to none with null. */
async function begin(store: TaskStore, taskId: string, version: string | null, ttlMs = long) {
  const turn = { queue, version, acquire: { holder: 'x', ttlMs } };
  return logOf(store, { taskId }).started({ turn });
}

/** The same, and gives it back, pinned to a version, for another process to go on with. */
async function giveBack(store: TaskStore, taskId: string, version: string | null, before = version) {
  const log = await begin(store, taskId, before);
  await log.commit([], { ...writer('x'), turn: { ...wanted.turn, version, release: true } });
  return log;
}

export const pinnedChecks = section(
  'claim',
  {
    async 'gives a task whose turn is pinned to a version to claims with it only: after a crash, a pause, and given back'(
      fixture,
    ) {
      const { store, second, now } = fixture;
      await begin(store, 'left', 'v1', 5);
      await begin(store, 'free', null, 5);
      await giveBack(store, 'given', 'v1');
      const paused = await begin(store, 'paused', 'v1');
      await paused.commit([working()], {
        ...dueAfter(paused, [working()], now() - 1_000),
        ...writer('x'),
        turn: { queue, version: 'v1', release: true },
      });
      await elapse(fixture, 10);
      // The clock of the other process may be a little behind: what ran out runs longer then.
      const free = await eventually(
        fixture,
        async () => (await claim(second, 'a'))[0],
        'The task without a version was not given out',
      );
      assert.equal(free.taskId, 'free');
      assert.deepEqual(ids((await second.pinned?.(queue, 'v1', 9)) ?? []), ['given', 'left', 'paused']);
      assert.equal((await second.pinned?.(queue, 'v1', 2))?.length, 2);
      assert.deepEqual(await second.pinned?.(queue, 'v2', 9), []);
      assert.deepEqual(await claim(second, 'b', { versions: ['v2'] }), []);
      const leases = await claim(second, 'c', { versions: ['v2', 'v1'] });
      assert.deepEqual(ids(leases), ['given', 'left', 'paused']);
      for (const lease of leases) assert.equal(lease.queue, queue);
      assert.deepEqual(ids(await claim(second, 'c', { versions: ['v1'] })), ids(leases), 'and again for it');
      assert.deepEqual(await second.pinned?.(queue, 'v1', 9), []);
      assert.equal((await second.renew(leases, 5)).length, 3);
      await elapse(fixture, 10);
      assert.deepEqual(await claim(second, 'd', { versions: ['v2'] }), []);
    },

    async 'gives out no more of several versions than the limit, those that have begun first'({
      store,
      second,
    }) {
      for (const [n, version] of [null, 'v1', 'v2', null].entries())
        await giveBack(store, `t${n}`, version, null);
      const claimed: Lease[] = [];
      for (const holder of ['a', 'b', 'c', 'd', 'e'])
        claimed.push(...(await claim(second, holder, { limit: 1, versions: ['v1', 'v2'] })));
      assert.deepEqual(ids(claimed.slice(0, 2)), ['t1', 't2']);
      assert.deepEqual(ids(claimed), ['t0', 't1', 't2', 't3']);
    },

    async 'keeps the version of a turn while it is open, whatever is appended, and forgets it with the turn'({
      store,
      second,
    }) {
      const log = await begin(store, 't', 'v1');
      await log.append(working(), 'message', wanted);
      await log.catchUp();
      await log.commit([], { ...writer('x'), turn: { ...wanted.turn, version: 'v1', release: true } });
      assert.deepEqual(await claim(second, 'a'), []);
      const task = { scope: 's', taskId: 't' };
      assert.deepEqual(await claim(second, 'a', { task }), []);
      assert.deepEqual(await claim(second, 'a', { task, versions: ['v2'] }), []);
      const lease = nth(await claim(second, 'b', { task, versions: ['v1'] }), 0);
      assert.deepEqual([lease.queue, lease.cause], [queue, 'wanted']);
      assert.equal(nth(await claim(second, 'b', { task }), 0).cause, 'held');
      await log.commit([working()], { writer: lease, turn: { ...wanted.turn, release: true } });
      assert.deepEqual(ids(await claim(second, 'c')), ['t']);
    },

    async 'lets any claim carry out a cancel, or have a task by its name'({ store, second }) {
      for (const taskId of ['asked', 'named']) await giveBack(store, taskId, 'v1');
      await logOf(store, { taskId: 'asked' }).append(cancelRequested(), 'cancel', {
        turn: { ...wanted.turn, version: null },
      });
      assert.deepEqual(ids(await claim(second, 'a')), ['asked']);
      const named = { task: { scope: 's', taskId: 'named' }, anyVersion: true };
      assert.deepEqual(await claim(second, 'b', { ...named, queue: 'other' }), []);
      assert.deepEqual(ids(await claim(second, 'b', named)), ['named']);
    },

    async 'lets tasks of a version go, with a notification, and never one that runs'({ store, second }) {
      if (!store.unpin || !second.unpin) return;
      await begin(store, 'runs', 'v1');
      for (const taskId of ['t1', 't2', 't3']) await giveBack(store, taskId, 'v1');
      const notified = Promise.withResolvers<void>();
      const unsubscribe = await second.subscribe({ queue }, () => notified.resolve());
      assert.equal(await store.unpin(queue, 'v2', 9), 0);
      assert.equal(await store.unpin(queue, 'v1', 2), 2);
      await notified.promise;
      await unsubscribe();
      assert.equal(await store.unpin(queue, 'v1', 9), 1);
      assert.equal(await store.unpin(queue, 'v1', 9), 0);
      assert.deepEqual(ids(await claim(second, 'a')), ['t1', 't2', 't3']);
    },

    async 'closes and deletes a task whose turn is pinned like any other'({ store, second }) {
      const log = await begin(store, 't', 'v1', 5);
      await log.commit([completed()], writer('x'));
      assert.deepEqual(await claim(second, 'a', { versions: ['v1'] }), []);
      assert.equal(await second.prune({ closedBefore: '2027-01-01T00:00:00.000Z', limit: 9 }), 1);
    },
  },
  ({ pinned }) => pinned,
);
