import assert from 'node:assert/strict';
import type { TaskStore } from '@batonjs/store';
import { type Fixture, section } from '../../fixture/check.ts';
import { elapse, eventually, idsOf, picked, refuses, same } from '../../fixture/expectations.ts';
import { chunk, completed, working } from '../../samples/facts.ts';
import { logOf } from '../../samples/log.ts';
import { nth } from '../../samples/present.ts';

const long = 60_000;
const wanted = { turn: { queue: 'q', want: true } };
const claim = (store: TaskStore, holder: string, more: object = {}) =>
  store.claim({ queue: 'q', holder, ttlMs: long, limit: 10, ...more });
const iso = (ms: number) => new Date(ms).toISOString();

async function due({ store }: Fixture, taskId: string, dueAt: string) {
  const log = logOf(store, { taskId });
  await log.create({ turn: { queue: 'q' } });
  await log.commit([working()], { head: { ...log.headAfter([working()]), dueAt } });
  return log;
}

export const claimChecks = section('claim', {
  async 'gives out a task that wants a turn, once'({ store, second }) {
    const log = logOf(store);
    await log.create(wanted);
    const [lease] = await claim(second, 'a');
    same(lease, { scope: 's', taskId: 't', queue: 'q', holder: 'a', fence: 1, cause: 'wanted' });
    same(await claim(store, 'b'), []);
    same(await log.commit([chunk(1)], { writer: { fence: 1, holder: 'a' } }), { version: 3 });
  },

  async 'leaves alone what wants nothing, was never queued, is held or is closed'({ store }) {
    await logOf(store, { taskId: 'idle' }).create({ turn: { queue: 'q' } });
    await logOf(store, { taskId: 'no queue' }).create();
    await logOf(store, { taskId: 'held' }).create({
      turn: { queue: 'q', acquire: { holder: 'x', ttlMs: long } },
    });
    const closed = logOf(store, { taskId: 'closed' });
    await closed.create(wanted);
    await closed.commit([completed()]);
    same(await claim(store, 'a'), []);
    for (const taskId of ['idle', 'no queue', 'held', 'closed'])
      same(await claim(store, 'a', { task: { scope: 's', taskId } }), []);
  },

  async 'never gives one task to two who ask at the same moment'({ store, second }) {
    const taskIds = Array.from({ length: 12 }, (_, n) => `t${n}`);
    for (const taskId of taskIds) await logOf(store, { taskId }).create(wanted);
    const claims = Array.from({ length: 8 }, (_, n) => claim(n % 2 ? store : second, `h${n}`, { limit: 3 }));
    const given = idsOf((await Promise.all(claims)).flat());
    assert.deepEqual(given.toSorted(), taskIds.toSorted());
  },

  async 'gives a token that asks again the leases it has, and keeps them'(fixture) {
    const { store, second } = fixture;
    await logOf(store).create(wanted);
    await claim(store, 'a', { ttlMs: 20 });
    const [again] = await claim(second, 'a');
    same(again, { scope: 's', taskId: 't', queue: 'q', holder: 'a', fence: 1, cause: 'held' });
    await elapse(fixture, 30);
    same(await claim(store, 'b'), []);
    same(await logOf(store, { taskId: 'other' }).create(wanted), { version: 2 });
    const both = await claim(store, 'a');
    assert.deepEqual(picked(both, 'taskId', 'fence', 'cause').toSorted(), [
      ['other', 1, 'wanted'],
      ['t', 1, 'held'],
    ]);
  },

  async 'gives a token that asks again the leases of that queue, as many as it asks for'({ store, second }) {
    for (const queue of ['q', 'other'])
      for (const n of [1, 2, 3])
        await logOf(store, { taskId: `${queue}${n}`, queue }).create({ turn: { queue, want: true } });
    for (const queue of ['q', 'other']) await claim(store, 'a', { queue });
    const again = async (more: object) => idsOf(await claim(second, 'a', more));
    assert.deepEqual((await again({})).toSorted(), ['q1', 'q2', 'q3']);
    assert.deepEqual((await again({ queue: 'other' })).toSorted(), ['other1', 'other2', 'other3']);
    for (const queue of ['q', 'other']) assert.equal((await again({ queue, limit: 2 })).length, 2);
  },

  async 'gives a token that asks again its lease even if its time is up'(fixture) {
    const { store } = fixture;
    await logOf(store).create(wanted);
    await claim(store, 'a', { ttlMs: 5 });
    await elapse(fixture, 10);
    assert.deepEqual(picked(await claim(store, 'a'), 'fence', 'cause'), [[1, 'held']]);
    same(await claim(store, 'b'), []);
  },

  async 'gives a token that asks again each lease once, even if it runs out at once'({ store }) {
    await logOf(store).create(wanted);
    await claim(store, 'a', { ttlMs: 0 });
    assert.deepEqual(picked(await claim(store, 'a', { ttlMs: 0 }), 'fence', 'cause'), [[1, 'held']]);
  },

  async 'does not give a released lease again'({ store }) {
    const log = logOf(store);
    await log.create(wanted);
    await claim(store, 'a');
    await log.commit([], { writer: { fence: 1, holder: 'a' }, turn: { queue: 'q', release: true } });
    same(await claim(store, 'a'), []);
  },

  async 'gives out at most as many as asked for, and forgets none of the others'({ store }) {
    const taskIds = Array.from({ length: 7 }, (_, n) => `t${n}`);
    for (const taskId of taskIds) await logOf(store, { taskId }).create(wanted);
    const given: string[] = [];
    for (const [holder, count] of [
      ['a', 3],
      ['b', 3],
      ['c', 1],
      ['d', 0],
    ] as const) {
      const leases = await claim(store, holder, { limit: 3 });
      assert.equal(leases.length, count);
      given.push(...idsOf(leases));
    }
    assert.deepEqual(given.toSorted(), taskIds);
  },

  async 'gives out at most as many as asked for, whatever made them ready'(fixture) {
    const { store, now } = fixture;
    for (const taskId of ['a1', 'a2', 'a3'])
      await logOf(store, { taskId }).create({ turn: { queue: 'q', acquire: { holder: 'x', ttlMs: 5 } } });
    await elapse(fixture, 10);
    for (const taskId of ['b1', 'b2', 'b3']) await logOf(store, { taskId }).create(wanted);
    for (const taskId of ['c1', 'c2', 'c3']) await due(fixture, taskId, iso(now() - 1_000));
    const given: string[] = [];
    for (let n = 0; n < 5; n++) {
      const leases = await claim(store, `h${n}`, { limit: 2 });
      assert.equal(leases.length, n < 4 ? 2 : 1);
      given.push(...idsOf(leases));
    }
    assert.deepEqual(given.toSorted(), ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3']);
    assert.equal((await claim(store, 'h0', { limit: 1 })).length, 1);
  },

  async 'can ask for one task only'({ store }) {
    for (const taskId of ['x', 'y', 'z']) await logOf(store, { taskId }).create(wanted);
    assert.deepEqual(idsOf(await claim(store, 'a', { task: { scope: 's', taskId: 'y' } })), ['y']);
    same(await claim(store, 'b', { task: { scope: 's', taskId: 'y' } }), []);
    same(await claim(store, 'b', { task: { scope: 's', taskId: 'nothing' } }), []);
    assert.equal((await claim(store, 'b')).length, 2);
  },

  async 'keeps queues apart'({ store }) {
    await logOf(store, { taskId: 'x', queue: 'one' }).create({ turn: { queue: 'one', want: true } });
    same(await claim(store, 'a', { queue: 'two' }), []);
    same(await claim(store, 'a', { queue: 'two', task: { scope: 's', taskId: 'x' } }), []);
    assert.equal((await claim(store, 'a', { queue: 'one' })).length, 1);
    same(await claim(store, 'a', { queue: 'two' }), []);
  },

  async 'tells tasks of the same id in different scopes apart'({ store }) {
    for (const scope of ['s1', 's2']) await logOf(store, { scope }).create(wanted);
    const leases = await claim(store, 'a');
    assert.deepEqual(picked(leases, 'scope', 'fence').toSorted(), [
      ['s1', 1],
      ['s2', 1],
    ]);
    same(await store.renew([{ ...nth(leases, 0), scope: 's3' }], long), []);
  },

  async 'gives out what a dead holder left, again and again'(fixture) {
    const { store } = fixture;
    await logOf(store).create({ turn: { queue: 'q', acquire: { holder: 'a', ttlMs: 5 } } });
    for (const [holder, fence] of [
      ['b', 2],
      ['c', 3],
    ] as const) {
      await elapse(fixture, 10);
      const leases = await claim(store, holder, { ttlMs: 5 });
      assert.deepEqual(
        leases.map((lease) => [lease.fence, lease.cause]),
        [[fence, 'expired']],
      );
    }
  },

  async 'gives out what waits, however many older tasks their holders keep'(fixture) {
    const { store } = fixture;
    for (let n = 0; n < 4; n++)
      await logOf(store, { taskId: `kept ${n}` }).create({
        turn: { queue: 'q', acquire: { holder: 'busy', ttlMs: 5 } },
      });
    await elapse(fixture, 10);
    await logOf(store, { taskId: 'waits' }).create(wanted);
    // A store that cannot ask gives out the others as well.
    const given: string[] = [];
    for (let n = 0; n < 4; n++) {
      const leases = await claim(store, `h${n}`, { limit: 2, isKept: () => true });
      given.push(...idsOf(leases));
    }
    assert.ok(given.includes('waits'), `gave out ${given.join(', ') || 'nothing'}`);
  },

  async 'gives out what a dead holder left after the store was opened again'(fixture) {
    await logOf(fixture.store).create({ turn: { queue: 'q', acquire: { holder: 'a', ttlMs: 5 } } });
    const reopened = { ...fixture, store: await fixture.reopen() };
    await elapse(reopened, 10);
    // While no process has the store open, its clock may stand still: what ran out runs a little longer then.
    const lease = await eventually(
      reopened,
      async () => (await claim(reopened.store, 'b'))[0],
      'What a dead holder left was not given out',
    );
    assert.equal(lease.cause, 'expired');
  },

  async 'gives out a task whose clock ran out, but not while it is held'(fixture) {
    const { store, now } = fixture;
    const log = await due(fixture, 'past', iso(now() - 1_000));
    await due(fixture, 'future', iso(now() + 3_600_000));
    const [lease, ...others] = await claim(store, 'a');
    assert.deepEqual([lease?.taskId, lease?.cause, others.length], ['past', 'due', 0]);
    same(await claim(store, 'b'), []);
    const { dueAt: _, ...head } = log.headAfter([chunk(1)]);
    const writer = { fence: 1, holder: 'a' };
    await log.commit([chunk(1)], { head, writer, turn: { queue: 'q', release: true } });
    same(await claim(store, 'b'), []);
  },

  async 'gives out a task when its clock runs out'(fixture) {
    await due(fixture, 't', iso(fixture.now() + 40));
    await elapse(fixture, 60);
    assert.deepEqual(
      (await claim(fixture.store, 'a')).map(({ cause }) => cause),
      ['due'],
    );
  },

  async 'gives out a task before its clock runs out to who names that time'(fixture) {
    const { store, now } = fixture;
    const dueAt = Math.floor(now()) + 3_600_000;
    await due(fixture, 't', iso(dueAt));
    const task = { scope: 's', taskId: 't' };
    same(await claim(store, 'a', { task, dueAt: dueAt - 1 }), []);
    same(await claim(store, 'a', { dueAt }), []);
    const [lease] = await claim(store, 'a', { task, dueAt });
    assert.equal(lease?.cause, 'due');
  },

  async 'goes by the clock of the newest head'(fixture) {
    const { store, now } = fixture;
    const log = await due(fixture, 't', iso(now() - 1_000));
    await log.commit([chunk(1)], {
      head: { ...log.headAfter([chunk(1)]), dueAt: iso(now() + 3_600_000) },
    });
    same(await claim(store, 'a'), []);
    await log.commit([chunk(2)], { head: { ...log.headAfter([chunk(2)]), dueAt: iso(now() - 1) } });
    assert.equal((await claim(store, 'a')).length, 1);
  },

  async 'moves a task that a commit puts into another queue'({ store }) {
    const log = logOf(store);
    await log.create(wanted);
    await log.commit([chunk(1)], { turn: { queue: 'p' } });
    same(await claim(store, 'a'), []);
    assert.equal(await store.waiting('q'), 0);
    assert.equal(await store.waiting('p'), 1);
    assert.deepEqual(
      (await claim(store, 'a', { queue: 'p' })).map(({ queue }) => queue),
      ['p'],
    );
  },

  async 'makes the claimed lease the only one that can write'({ store }) {
    const log = logOf(store);
    await log.create(wanted);
    await claim(store, 'a');
    await refuses('FENCED', log.commit([chunk(1)], { writer: { fence: 1, holder: 'b' } }));
    assert.equal(
      (await log.commit([chunk(1)], { turn: { queue: 'q', acquire: { holder: 'b', ttlMs: long } } })).lease,
      undefined,
    );
  },
});
