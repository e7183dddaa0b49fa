import assert from 'node:assert/strict';
import type { PushConfigStore } from '@batonjs/store';
import { section } from '../../fixture/check.ts';
import { each, elapse, idsOf, picked, same, subscribe, subscribeAll } from '../../fixture/expectations.ts';
import { at, type Both, chunk, completed, push } from '../../samples/facts.ts';
import { logOf, nth, present } from '../../samples/log.ts';
import { iso, long } from '../../samples/turns.ts';

const claim = (store: PushConfigStore, holder: string, more: object = {}) =>
  store.claimDeliveries({ queue: 'q', holder, ttlMs: long, limit: 10, ...more });
const claimFirst = async (store: PushConfigStore, holder: string, more: object = {}) =>
  nth(await claim(store, holder, more), 0);
const count = async (store: PushConfigStore, holder: string) => (await claim(store, holder)).length;

export const deliveryChecks = section<Both>('deliveries', {
  async 'are due while the log is longer than the cursor'({ store, second }) {
    await store.putPushConfig(push('a'));
    assert.equal(await count(store, 'x'), 0);
    const log = await logOf(store).started();
    const delivery = await claimFirst(second, 'h');
    same(delivery.push, { ...push('a'), attempts: 0 });
    assert.equal(delivery.holder, 'h');
    assert.equal(await store.advance(delivery, { cursor: 2 }), true);
    assert.equal((await store.getPushConfig('s', 't', 'a'))?.cursor, 2);
    assert.equal(await count(store, 'i'), 0);
    await log.append(chunk(1));
    assert.equal(await count(second, 'j'), 1);
  },

  async 'are due again if the log grows while one is recorded'({ store, second }) {
    const log = await logOf(second).started();
    await store.putPushConfig(push('a'));
    let delivery = await claimFirst(store, 'h');
    for (let n = 1; n <= 40; n++) {
      const [, isRecorded] = await Promise.all([
        log.append(chunk(n)),
        store.advance(delivery, { cursor: n + 1 }),
      ]);
      assert.equal(isRecorded, true);
      const [next] = await claim(store, `h${n}`);
      delivery = present(next, `delivery: the log is at ${n + 2}, the webhook at ${n + 1}`);
    }
  },

  async 'start at the cursor a webhook came with'({ store }) {
    const log = await logOf(store).started();
    await store.putPushConfig(push('a', { cursor: 2 }));
    assert.equal(await count(store, 'h'), 0);
    await log.commit([completed()]);
    assert.equal((await claimFirst(store, 'h')).push.cursor, 2);
  },

  async 'go to one process at a time'({ store, second }) {
    await logOf(store).create();
    const ids = Array.from({ length: 8 }, (_, n) => `w${n}`);
    for (const id of ids) await store.putPushConfig(push(id));
    const asked = Array.from({ length: 6 }, (_, n) => claim(n % 2 ? store : second, `h${n}`, { limit: 2 }));
    const given = (await Promise.all(asked)).map((deliveries) => deliveries.map(({ push }) => push.id));
    for (const few of given) assert.ok(few.length <= 2);
    assert.deepEqual(given.flat().toSorted(), ids);
    assert.equal(await count(store, 'late'), 0);
  },

  async 'are claimed from the queue of the webhook'({ store }) {
    await logOf(store).create();
    await store.putPushConfig(push('a', { queue: 'one' }));
    assert.equal(await count(store, 'h'), 0);
    assert.equal((await claim(store, 'h', { queue: 'one' })).length, 1);
  },

  async 'that failed wait until their time, and count their attempts'(fixture) {
    const { store, now } = fixture;
    await logOf(store).create();
    await store.putPushConfig(push('a'));
    const first = await claimFirst(store, 'h');
    const later = iso(now() + 3_600_000);
    assert.equal(await store.advance(first, { retryAt: later, attempts: 1 }), true);
    same(await store.getPushConfig('s', 't', 'a'), { ...push('a'), attempts: 1, retryAt: later });
    assert.equal(await count(store, 'i'), 0);
    await store.putPushConfig(push('b'));
    const second = await claimFirst(store, 'j');
    assert.equal(second.push.id, 'b');
    await store.advance(second, { retryAt: iso(now() + 20), attempts: 3 });
    await elapse(fixture, 40);
    const again = await claimFirst(store, 'k');
    assert.deepEqual([again.push.id, again.push.attempts], ['b', 3]);
    await store.advance(again, { cursor: 1 });
    same(await store.getPushConfig('s', 't', 'b'), { ...push('b'), cursor: 1, attempts: 0 });
  },

  async 'that a clock which was ahead put off are given to who names the longest wait'({ store, now }) {
    const day = 86_400_000;
    for (const days of [2, 30, 9, 0]) {
      const taskId = String(days);
      await logOf(store, { taskId }).create();
      await store.putPushConfig(push('a', { taskId }));
      const retryAt = iso(now() + days * day);
      if (days > 0) await store.advance(await claimFirst(store, 'h'), { retryAt, attempts: 1 });
    }
    const beyond = async (days: number, more: object = {}) =>
      (await claim(store, 'i', { beyondMs: days * day, ...more })).map(({ push }) => push.taskId).toSorted();
    same(await beyond(31), []);
    same(await beyond(3), ['30', '9']);
    same(await beyond(3), []);
    same(await beyond(1, { queue: 'other' }), []);
    same(await beyond(1, { limit: 1 }), ['2']);
    same([(await claimFirst(store, 'j')).push.taskId, await count(store, 'k')], ['0', 0]);
  },

  async 'can be held on to from one fact to the next'(fixture) {
    const { store } = fixture;
    await logOf(store).create();
    await store.putPushConfig(push('a'));
    const delivery = await claimFirst(store, 'h', { ttlMs: 30 });
    assert.equal(await store.advance(delivery, { cursor: 1, keep: { ttlMs: long } }), true);
    await elapse(fixture, 50);
    assert.equal(await count(store, 'i'), 0);
    assert.equal((await store.getPushConfig('s', 't', 'a'))?.cursor, 1);
    assert.equal(await store.advance(delivery, { cursor: 2 }), true);
    assert.equal(await store.advance(delivery, { cursor: 1 }), false);
    assert.equal((await store.getPushConfig('s', 't', 'a'))?.cursor, 2);
  },

  async 'are lost to a claim after their time, and only then'(fixture) {
    const { store } = fixture;
    await logOf(store).create();
    await store.putPushConfig(push('a'));
    await store.putPushConfig(push('b', { queue: 'p' }));
    const lost = await claimFirst(store, 'h', { ttlMs: 5 });
    const kept = await claimFirst(store, 'h', { ttlMs: 5, queue: 'p' });
    await elapse(fixture, 10);
    const taken = await claimFirst(store, 'i');
    assert.ok(taken.fence > lost.fence);
    assert.equal(await store.advance(lost, { cursor: 2 }), false);
    assert.equal(await store.advance({ ...taken, holder: 'h' }, { dead: 'no' }), false);
    assert.equal(await store.advance({ ...taken, fence: taken.fence + 1 }, { dead: 'no' }), false);
    same(await store.getPushConfig('s', 't', 'a'), { ...push('a'), attempts: 0 });
    assert.equal(await store.advance(kept, { cursor: 2 }), true);
    assert.equal(await store.advance(taken, { cursor: 1 }), true);
  },

  async 'under way are fenced when the webhook is replaced or removed'({ store }) {
    await logOf(store).create();
    for (const id of ['a', 'b']) await store.putPushConfig(push(id));
    const deliveries = await claim(store, 'h');
    await store.putPushConfig(push('a'));
    await store.removePushConfig('s', 't', 'b');
    for (const delivery of deliveries) assert.equal(await store.advance(delivery, { cursor: 2 }), false);
    await store.putPushConfig(push('b'));
    for (const delivery of deliveries) assert.equal(await store.advance(delivery, { cursor: 2 }), false);
    const again = picked(each(await claim(store, 'i'), 'push'), 'id', 'cursor').toSorted();
    assert.equal(again.join(' '), 'a,0 b,0');
  },

  async 'that wait for their time are due at once when that is asked, and keep count of their attempts'(
    fixture,
  ) {
    const { store, second } = fixture;
    await logOf(store).create();
    for (const id of ['waiting', 'other', 'dead', 'idle']) await store.putPushConfig(push(id));
    const retryAt = iso(fixture.now() + 3_600_000);
    for (const delivery of await claim(store, 'h')) {
      const { id } = delivery.push;
      if (id === 'dead') await store.advance(delivery, { dead: 'for a test' });
      else await store.advance(delivery, id === 'idle' ? { cursor: 2 } : { retryAt, attempts: 3 });
    }
    assert.equal(await count(store, 'early'), 0);
    const subscriber = await subscribe(store, { queue: 'q' }, fixture);
    const names = ['waiting', 'dead', 'idle', 'gone'].map((id) => ({ scope: 's', taskId: 't', id }));
    await second.retryNow(names);
    await subscriber.next('a webhook that is due at once');
    await subscriber.stop();
    const due = each(await claim(store, 'i'), 'push');
    assert.deepEqual(picked(due, 'id', 'attempts', 'retryAt'), [['waiting', 3, undefined]]);
    // It is under way now: no other claim gets it.
    await second.retryNow(names);
    assert.equal(await count(store, 'j'), 0);
    assert.equal((await store.getPushConfig('s', 't', 'dead'))?.dead, 'for a test');
  },

  async 'that were given up are not due, are shown, and can be revived'({ store, second }) {
    const log = await logOf(store).started();
    for (const id of ['b', 'a']) await store.putPushConfig(push(id));
    for (const delivery of await claim(store, 'h'))
      await store.advance(delivery, { dead: `no ${delivery.push.id}` });
    await store.putPushConfig(push('c', { queue: 'p' }));
    for (const delivery of await claim(store, 'h', { queue: 'p' }))
      await store.advance(delivery, { dead: 'no' });
    await log.append(chunk(1));
    assert.equal(await count(store, 'i'), 0);
    const dead = await second.listDead('q', { limit: 9 });
    assert.equal(picked(dead, 'id', 'dead').join(', '), 'a,no a, b,no b');
    same(each(await second.listDead('q', { limit: 1 }), 'id'), ['a']);
    assert.equal(await store.revive('s', 't', 'a'), true);
    assert.equal(await store.revive('s', 't', 'a'), false);
    assert.equal(await store.revive('s', 't', 'nothing'), false);
    same(await store.getPushConfig('s', 't', 'a'), { ...push('a'), attempts: 0 });
    same(each(each(await claim(store, 'i'), 'push'), 'id'), ['a']);
    await store.putPushConfig(push('b'));
    assert.equal((await store.getPushConfig('s', 't', 'b'))?.dead, undefined);
    same(await store.listDead('q', { limit: 9 }), []);
  },

  async 'that were given up are shown in the order of their tasks'({ store, second }) {
    for (const taskId of [...'zyxwvuts']) {
      await logOf(store, { taskId }).create();
      await store.putPushConfig(push('a', { taskId }));
    }
    for (const delivery of await claim(store, 'h')) await store.advance(delivery, { dead: 'no' });
    const dead = await second.listDead('q', { limit: 3 });
    assert.deepEqual(idsOf(dead), ['s', 't', 'u']);
  },

  async 'notify the queue: a longer log, a new webhook, a revived one'(fixture) {
    const { store, second } = fixture;
    const log = await logOf(store).started();
    await store.putPushConfig(push('a', { cursor: 2 }));
    const both = await subscribeAll([store, second], { queue: 'q' }, fixture);
    await log.commit([chunk(1)]);
    await both.next('a commit');
    await log.append(chunk(2));
    await both.next('an append');
    await store.putPushConfig(push('b', { cursor: 0 }));
    await both.next('a new webhook');
    for (const delivery of await claim(store, 'h')) await store.advance(delivery, { dead: 'no' });
    await both.stop();
    const revived = await subscribeAll([store, second], { queue: 'q' }, fixture);
    await store.revive('s', 't', 'a');
    await revived.next('a revived webhook');
    await revived.stop();
  },

  async 'keep a log from being pruned until they are made or given up'({ store }) {
    const logs = ['t', 'u', 'v'].map((taskId) => logOf(store, { taskId }));
    for (const log of logs) {
      await store.putPushConfig(push('a', { taskId: log.taskId }));
      await log.create();
      await log.commit([completed(at(1))]);
    }
    const prune = () => store.prune({ closedBefore: at(9), limit: 99 });
    assert.equal(await prune(), 0);
    const deliveries = await claim(store, 'h');
    const of = (taskId: string) =>
      present(
        deliveries.find(({ push }) => push.taskId === taskId),
        taskId,
      );
    await store.advance(of('t'), { cursor: 3 });
    await store.advance(of('u'), { dead: 'no' });
    await store.advance(of('v'), { cursor: 2 });
    assert.equal(await prune(), 2);
    for (const taskId of ['t', 'u']) {
      assert.equal(await store.load('s', taskId), undefined);
      same(await store.listPushConfigs('s', taskId, { limit: 9 }), []);
    }
    same(await store.listDead('q', { limit: 9 }), []);
    assert.equal((await store.load('s', 'v'))?.version, 3);
    assert.equal(await store.removePushConfig('s', 'v', 'a'), true);
    assert.equal(await prune(), 1);
  },
});
