import assert from 'node:assert/strict';
import type { Lease } from '@batonjs/store';
import { section } from '../../fixture/check.ts';
import { elapse, eventually, idsOf } from '../../fixture/expectations.ts';
import { cancelRequested, completed, working } from '../../samples/facts.ts';
import { logOf } from '../../samples/log.ts';
import { nth } from '../../samples/present.ts';

const ttlMs = 60_000;
const queue = 'q';
const ids = (tasks: readonly { readonly taskId: string }[]) => idsOf(tasks).sort();

export const pinnedChecks = section('claim', {
  async 'gives a task whose turn is pinned to a version to claims with it only: after a crash, a pause, and given back'(
    fixture,
  ) {
    const { store, second, now } = fixture;
    if (!store.pinned || !second.pinned) return;
    const claim = (holder: string, versions?: readonly string[]) =>
      second.claim({ queue, holder, ttlMs, limit: 9, ...(versions && { versions }) });
    const begin = (taskId: string, version?: string) =>
      logOf(store, { taskId }).create({
        turn: { queue, version: version ?? null, acquire: { holder: taskId, ttlMs: 5 } },
      });
    await begin('left', 'v1');
    await begin('free');
    const given = logOf(store, { taskId: 'given' });
    await given.create({ turn: { queue, version: 'v1', acquire: { holder: 'given', ttlMs } } });
    const writer = { fence: 1, holder: 'given' };
    await given.commit([], { writer, turn: { queue, version: 'v1', release: true, want: true } });
    const paused = logOf(store, { taskId: 'paused' });
    await paused.create({ turn: { queue, version: 'v1', acquire: { holder: 'paused', ttlMs } } });
    const dueAt = new Date(now() - 1_000).toISOString();
    await paused.commit([working()], {
      head: { ...paused.headAfter([working()]), dueAt },
      writer: { fence: 1, holder: 'paused' },
      turn: { queue, version: 'v1', release: true },
    });
    await elapse(fixture, 10);
    // The clock of the other process may be a little behind: what ran out runs longer then.
    const [free] = await eventually(
      fixture,
      async () => {
        const some = await claim('a');
        return some.length > 0 ? some : undefined;
      },
      'The task without a version was not given out',
    );
    assert.equal(free?.taskId, 'free');
    assert.deepEqual(ids(await second.pinned(queue, 'v1', 9)), ['given', 'left', 'paused']);
    assert.equal((await second.pinned(queue, 'v1', 2)).length, 2);
    assert.deepEqual(await second.pinned(queue, 'v2', 9), []);
    assert.deepEqual(await claim('b', ['v2']), []);
    const leases = await claim('c', ['v2', 'v1']);
    assert.deepEqual(ids(leases), ['given', 'left', 'paused']);
    assert.deepEqual([...new Set(leases.map((lease) => lease.queue))], [queue]);
    assert.deepEqual(ids(await claim('c', ['v1'])), ids(leases), 'and again for the holder');
    assert.deepEqual(await second.pinned(queue, 'v1', 9), []);
    assert.equal((await second.renew(leases, 5)).length, 3);
    await elapse(fixture, 10);
    assert.deepEqual(await claim('d', ['v2']), []);
  },

  async 'gives out no more of several versions than the limit, those that have begun first'({
    store,
    second,
  }) {
    if (!store.pinned) return;
    for (const [n, version] of [null, 'v1', 'v2', null].entries()) {
      const log = logOf(store, { taskId: `t${n}` });
      await log.create({ turn: { queue, acquire: { holder: 'x', ttlMs } } });
      await log.commit([], {
        writer: { fence: 1, holder: 'x' },
        turn: { queue, version, release: true, want: true },
      });
    }
    const claimed: Lease[] = [];
    for (const holder of ['a', 'b', 'c', 'd', 'e'])
      claimed.push(...(await second.claim({ queue, holder, ttlMs, limit: 1, versions: ['v1', 'v2'] })));
    assert.deepEqual(ids(claimed.slice(0, 2)), ['t1', 't2']);
    assert.deepEqual(ids(claimed), ['t0', 't1', 't2', 't3']);
  },

  async 'keeps the version of a turn while it is open, whatever is appended, and forgets it with the turn'({
    store,
    second,
  }) {
    if (!store.pinned) return;
    const log = logOf(store);
    await log.create({ turn: { queue, version: 'v1', acquire: { holder: 'x', ttlMs } } });
    const writer = { fence: 1, holder: 'x' };
    await log.append(working(), 'message', { turn: { queue, want: true } });
    await log.catchUp();
    await log.commit([], { writer, turn: { queue, version: 'v1', release: true, want: true } });
    assert.deepEqual(await second.claim({ queue, holder: 'a', ttlMs, limit: 9 }), []);
    const task = { scope: 's', taskId: 't' };
    const named = { queue, ttlMs, limit: 1, task };
    assert.deepEqual(await second.claim({ ...named, holder: 'a' }), []);
    assert.deepEqual(await second.claim({ ...named, holder: 'a', versions: ['v2'] }), []);
    const lease = nth(await second.claim({ ...named, holder: 'b', versions: ['v1'] }), 0);
    assert.deepEqual([lease.queue, lease.cause], [queue, 'wanted']);
    assert.equal(nth(await second.claim({ ...named, holder: 'b' }), 0).cause, 'held');
    await log.commit([working()], { writer: lease, turn: { queue, release: true, want: true } });
    assert.deepEqual(ids(await second.claim({ queue, holder: 'c', ttlMs, limit: 9 })), ['t']);
  },

  async 'lets any claim carry out a cancel, or have a task by its name'({ store, second }) {
    if (!store.pinned) return;
    for (const taskId of ['asked', 'named']) {
      const log = logOf(store, { taskId });
      await log.create({ turn: { queue, version: 'v1', acquire: { holder: 'x', ttlMs } } });
      await log.commit([], {
        writer: { fence: 1, holder: 'x' },
        turn: { queue, version: 'v1', release: true, want: true },
      });
    }
    await logOf(store, { taskId: 'asked' }).append(cancelRequested(), 'cancel', {
      turn: { queue, want: true, version: null },
    });
    assert.deepEqual(ids(await second.claim({ queue, holder: 'a', ttlMs, limit: 9 })), ['asked']);
    const task = { scope: 's', taskId: 'named' };
    const about = { queue, holder: 'b', ttlMs, limit: 1, task };
    assert.deepEqual(await second.claim({ ...about, queue: 'other', anyVersion: true }), []);
    assert.deepEqual(ids(await second.claim({ ...about, anyVersion: true })), ['named']);
  },

  async 'lets tasks of a version go, with a notification, and never one that runs'({ store, second }) {
    if (!store.unpin || !second.unpin) return;
    for (const taskId of ['t1', 't2', 't3', 'runs']) {
      const log = logOf(store, { taskId });
      await log.create({ turn: { queue, version: 'v1', acquire: { holder: 'x', ttlMs } } });
      if (taskId === 'runs') continue;
      await log.commit([], {
        writer: { fence: 1, holder: 'x' },
        turn: { queue, version: 'v1', release: true, want: true },
      });
    }
    const notified = Promise.withResolvers<void>();
    const unsubscribe = await second.subscribe({ queue }, () => notified.resolve());
    assert.equal(await store.unpin(queue, 'v2', 9), 0);
    assert.equal(await store.unpin(queue, 'v1', 2), 2);
    await notified.promise;
    await unsubscribe();
    assert.equal(await store.unpin(queue, 'v1', 9), 1);
    assert.equal(await store.unpin(queue, 'v1', 9), 0);
    assert.deepEqual(ids(await second.claim({ queue, holder: 'a', ttlMs, limit: 9 })), ['t1', 't2', 't3']);
  },

  async 'closes and deletes a task whose turn is pinned like any other'({ store, second }) {
    if (!store.pinned) return;
    const log = logOf(store);
    await log.create({ turn: { queue, version: 'v1', acquire: { holder: 'x', ttlMs: 5 } } });
    await log.commit([completed()], { writer: { fence: 1, holder: 'x' } });
    assert.deepEqual(await second.claim({ queue, holder: 'a', ttlMs, limit: 9, versions: ['v1'] }), []);
    assert.equal(await second.prune({ closedBefore: '2027-01-01T00:00:00.000Z', limit: 9 }), 1);
  },
});
