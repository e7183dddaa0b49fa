import assert from 'node:assert/strict';
import { type Fixture, section } from '../../fixture/check.ts';
import { each, elapse, eventually, idsOf, picked, refuses, same } from '../../fixture/expectations.ts';
import { chunk, completed, working } from '../../samples/facts.ts';
import { logOf, nth } from '../../samples/log.ts';
import { acquire, claim, dueAfter, lease, long, release, wanted, writer } from '../../samples/turns.ts';

/** A task that is due so many milliseconds from now. */
async function due({ store, now }: Fixture, taskId: string, inMs: number) {
  const log = await logOf(store, { taskId }).started({ turn: { queue: 'q' } });
  await log.commit([working()], dueAfter(log, [working()], now() + inMs));
  return log;
}

export const claimChecks = section('claim', {
  async 'gives out a task that wants a turn, once'({ store, second }) {
    const log = await logOf(store).started(wanted);
    same(await claim(second, 'a'), [lease('a', 1, 'wanted')]);
    same(await claim(store, 'b'), []);
    same(await log.commit([chunk(1)], writer('a')), { version: 3 });
  },

  async 'leaves alone what wants nothing, was never queued, is held or is closed'({ store }) {
    await logOf(store, { taskId: 'idle' }).create({ turn: { queue: 'q' } });
    await logOf(store, { taskId: 'no queue' }).create();
    await logOf(store, { taskId: 'held' }).create(acquire('x'));
    const closed = await logOf(store, { taskId: 'closed' }).started(wanted);
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
    same(await claim(second, 'a'), [lease('a', 1, 'held')]);
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
    const log = await logOf(store).started(wanted);
    await claim(store, 'a');
    await log.commit([], { ...writer('a'), ...release() });
    same(await claim(store, 'a'), []);
  },

  async 'gives out at most as many as asked for, and forgets none of the others'({ store }) {
    const taskIds = Array.from({ length: 7 }, (_, n) => `t${n}`);
    for (const taskId of taskIds) await logOf(store, { taskId }).create(wanted);
    const given: string[][] = [];
    for (const holder of ['a', 'b', 'c', 'd']) given.push(idsOf(await claim(store, holder, { limit: 3 })));
    assert.deepEqual(each(given, 'length'), [3, 3, 1, 0]);
    assert.deepEqual(given.flat().toSorted(), taskIds);
  },

  async 'gives out at most as many as asked for, whatever made them ready'(fixture) {
    const { store } = fixture;
    for (const taskId of ['a1', 'a2', 'a3']) await logOf(store, { taskId }).create(acquire('x', 5));
    await elapse(fixture, 10);
    for (const taskId of ['b1', 'b2', 'b3']) await logOf(store, { taskId }).create(wanted);
    for (const taskId of ['c1', 'c2', 'c3']) await due(fixture, taskId, -1_000);
    const given: string[][] = [];
    for (let n = 0; n < 5; n++) given.push(idsOf(await claim(store, `h${n}`, { limit: 2 })));
    assert.deepEqual(each(given, 'length'), [2, 2, 2, 2, 1]);
    assert.deepEqual(given.flat().toSorted(), ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3']);
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
    await logOf(store).create(acquire('a', 5));
    for (const [n, holder] of ['b', 'c'].entries()) {
      await elapse(fixture, 10);
      same(await claim(store, holder, { ttlMs: 5 }), [lease(holder, n + 2, 'expired')]);
    }
  },

  async 'gives out what waits, however many older tasks their holders keep'(fixture) {
    const { store } = fixture;
    for (let n = 0; n < 4; n++) await logOf(store, { taskId: `kept ${n}` }).create(acquire('busy', 5));
    await elapse(fixture, 10);
    await logOf(store, { taskId: 'waits' }).create(wanted);
    // A store that cannot ask gives out the others as well.
    const given: string[] = [];
    for (let n = 0; n < 4; n++)
      given.push(...idsOf(await claim(store, `h${n}`, { limit: 2, isKept: () => true })));
    assert.ok(given.includes('waits'), `gave out ${given.join(', ') || 'nothing'}`);
  },

  async 'gives out what a dead holder left after the store was opened again'(fixture) {
    await logOf(fixture.store).create(acquire('a', 5));
    const reopened = { ...fixture, store: await fixture.reopen() };
    await elapse(reopened, 10);
    // While no process has the store open, its clock may stand still: what ran out runs a little longer then.
    const again = async () => (await claim(reopened.store, 'b'))[0];
    same(
      await eventually(reopened, again, 'What a dead holder left was not given out'),
      lease('b', 2, 'expired'),
    );
  },

  async 'gives out a task whose clock ran out, but not while it is held'(fixture) {
    const { store } = fixture;
    const log = await due(fixture, 'past', -1_000);
    await due(fixture, 'future', 3_600_000);
    assert.deepEqual(picked(await claim(store, 'a'), 'taskId', 'cause'), [['past', 'due']]);
    same(await claim(store, 'b'), []);
    const { dueAt: _, ...head } = log.headAfter([chunk(1)]);
    await log.commit([chunk(1)], { head, ...writer('a'), ...release() });
    same(await claim(store, 'b'), []);
  },

  async 'gives out a task when its clock runs out'(fixture) {
    await due(fixture, 't', 40);
    await elapse(fixture, 60);
    same(each(await claim(fixture.store, 'a'), 'cause'), ['due']);
  },

  async 'gives out a task before its clock runs out to who names that time'(fixture) {
    const { store } = fixture;
    const log = await due(fixture, 't', 3_600_000);
    const dueAt = Date.parse(log.head?.dueAt ?? '');
    const task = { scope: 's', taskId: 't' };
    same(await claim(store, 'a', { task, dueAt: dueAt - 1 }), []);
    same(await claim(store, 'a', { dueAt }), []);
    same(each(await claim(store, 'a', { task, dueAt }), 'cause'), ['due']);
  },

  async 'goes by the clock of the newest head'(fixture) {
    const { store, now } = fixture;
    const log = await due(fixture, 't', -1_000);
    await log.commit([chunk(1)], dueAfter(log, [chunk(1)], now() + 3_600_000));
    same(await claim(store, 'a'), []);
    await log.commit([chunk(2)], dueAfter(log, [chunk(2)], now() - 1));
    assert.equal((await claim(store, 'a')).length, 1);
  },

  async 'moves a task that a commit puts into another queue'({ store }) {
    const log = await logOf(store).started(wanted);
    await log.commit([chunk(1)], { turn: { queue: 'p' } });
    same(await claim(store, 'a'), []);
    assert.equal(await store.waiting('q'), 0);
    assert.equal(await store.waiting('p'), 1);
    same(each(await claim(store, 'a', { queue: 'p' }), 'queue'), ['p']);
  },

  async 'makes the claimed lease the only one that can write'({ store }) {
    const log = await logOf(store).started(wanted);
    await claim(store, 'a');
    await refuses('FENCED', log.commit([chunk(1)], writer('b')));
    assert.equal((await log.commit([chunk(1)], acquire('b'))).lease, undefined);
  },
});

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
    const due = await logOf(store, { taskId: 'due' }).started({ turn: { queue: 'q' } });
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
