import assert from 'node:assert/strict';
import type { PushConfig } from '@batonjs/store';
import { type Check, section } from '../../fixture/check.ts';
import { each, same, vandalize } from '../../fixture/expectations.ts';
import { type Both, chunk, oddIds, push } from '../../samples/facts.ts';
import { logOf, nth, present } from '../../samples/log.ts';
import { acquire, iso, long, writer } from '../../samples/turns.ts';
import { deliveryChecks } from './deliveries.ts';

const queue = 'q';
const ttlMs = 60_000;

const measureWebhooksChecks = section<Both>('measure', {
  async 'counts webhooks that are behind their log, and those that were given up'({ store, second }) {
    const before = await second.measure?.(queue);
    if (before?.dead === undefined) return;
    assert.deepEqual([before.undelivered, before.dead], [0, 0]);
    await logOf(store).create();
    for (const id of ['a', 'b', 'idle'])
      await store.putPushConfig(push(id, { cursor: id === 'idle' ? 2 : 0 }));
    const behind = await second.measure?.(queue);
    assert.deepEqual([behind?.undelivered, behind?.dead], [2, 0]);
    assert.ok(behind?.undeliveredMs !== undefined);
    const deliveries = await store.claimDeliveries({ queue, holder: 'x', ttlMs, limit: 2 });
    const held = await second.measure?.(queue);
    assert.equal(held?.undeliveredMs, undefined);
    assert.ok(Math.abs((held?.nextMs ?? 0) - ttlMs) < 5_000, `claimed for ${held?.nextMs} ms`);
    await store.advance(nth(deliveries, 0), { dead: 'gone' });
    await store.advance(nth(deliveries, 1), { cursor: 2 });
    const over = await second.measure?.(queue);
    assert.deepEqual([over?.undelivered, over?.dead], [0, 1]);
    await store.removePushConfig('s', 't', nth(deliveries, 0).push.id);
    assert.equal((await second.measure?.(queue))?.dead, 0);
  },
});

const kept = (id: string, more: Partial<PushConfig> = {}) => ({ ...push(id, more), attempts: 0 });
const idsOf = (pushes: readonly PushConfig[]) => each(pushes, 'id');
/** The webhooks that a claim gets. */
const claimed = async (store: Both, holder: string) =>
  each(await store.claimDeliveries({ queue: 'q', holder, ttlMs: long, limit: 9 }), 'push');

const configChecks = section<Both>('webhooks', {
  async 'are kept as they were registered, secrets included'({ store, reopen }) {
    await logOf(store).create();
    await store.putPushConfig(push('a', { cursor: 1 }));
    same(await store.getPushConfig('s', 't', 'a'), kept('a', { cursor: 1 }));
    same(await (await reopen()).getPushConfig('s', 't', 'a'), kept('a', { cursor: 1 }));
  },

  async 'are found under their scope, task and id only'({ store, second }) {
    await store.putPushConfig(push('a'));
    for (const [scope, taskId, id] of [
      ['s2', 't', 'a'],
      ['s', 't2', 'a'],
      ['s', 't', 'b'],
      ['s', 't', 'A'],
    ] as const) {
      assert.equal(await second.getPushConfig(scope, taskId, id), undefined);
      assert.equal(await second.removePushConfig(scope, taskId, id), false);
      if (id === 'a') same(await second.listPushConfigs(scope, taskId, { limit: 9 }), []);
    }
    assert.equal((await second.getPushConfig('s', 't', 'a'))?.id, 'a');
  },

  async 'are replaced under the same id, the further cursor kept'({ store }) {
    await logOf(store).create();
    await store.putPushConfig(push('a', { cursor: 5 }));
    const config = { ...push('a').config, url: 'https://example.com/other' };
    await store.putPushConfig(push('a', { config, cursor: 2, protocolVersion: '0.3', queue: 'p' }));
    const expected = kept('a', { config, cursor: 5, protocolVersion: '0.3', queue: 'p' });
    same(await store.getPushConfig('s', 't', 'a'), expected);
    await store.putPushConfig(push('a', { cursor: 9 }));
    assert.equal((await store.getPushConfig('s', 't', 'a'))?.cursor, 9);
    assert.equal((await store.listPushConfigs('s', 't', { limit: 9 })).length, 1);
  },

  async 'are refused beyond a number of the same task, unless they replace another'({ store, second }) {
    assert.equal(await store.putPushConfig(push('a'), 2), true);
    const both = [store.putPushConfig(push('b'), 2), second.putPushConfig(push('c'), 2)];
    same((await Promise.all(both)).sort(), [false, true]);
    assert.equal(await store.putPushConfig(push('d'), 2), false);
    assert.equal(await store.putPushConfig(push('a', { cursor: 7 }), 2), true);
    assert.equal((await store.getPushConfig('s', 't', 'a'))?.cursor, 7);
    assert.equal(await store.putPushConfig(push('a', { taskId: 't2' }), 2), true);
    assert.equal((await store.listPushConfigs('s', 't', { limit: 9 })).length, 2);
  },

  async 'are listed by id, page by page'({ store }) {
    for (const id of ['c', 'a', 'e', 'b', 'd']) await store.putPushConfig(push(id));
    await store.putPushConfig(push('x', { taskId: 't2' }));
    const list = async (limit: number, after?: string) =>
      idsOf(await store.listPushConfigs('s', 't', { limit, after })).join('');
    assert.equal(await list(9), 'abcde');
    assert.equal(await list(2), 'ab');
    assert.equal(await list(2, 'b'), 'cd');
    assert.equal(await list(2, 'd'), 'e');
    assert.equal(await list(2, 'e'), '');
    assert.equal(await list(9, 'bb'), 'cde');
  },

  async 'are removed once'({ store }) {
    await store.putPushConfig(push('a'));
    await store.putPushConfig(push('b'));
    assert.equal(await store.removePushConfig('s', 't', 'a'), true);
    assert.equal(await store.removePushConfig('s', 't', 'a'), false);
    same(idsOf(await store.listPushConfigs('s', 't', { limit: 9 })), ['b']);
  },

  async 'may have any text as id'({ store, reopen }) {
    for (const id of oddIds) await store.putPushConfig(push(id));
    const again = await reopen();
    for (const id of oddIds) same(await again.getPushConfig('s', 't', id), kept(id));
    assert.deepEqual(new Set(idsOf(await again.listPushConfigs('s', 't', { limit: 999 }))), new Set(oddIds));
  },

  async 'share nothing with callers that a caller could change'({ store }) {
    const given = structuredClone(push('a'));
    const shallow = structuredClone(push('b'));
    // Its `authentication` is not frozen.
    Object.freeze(shallow.config);
    await store.putPushConfig(given);
    await store.putPushConfig(shallow);
    vandalize(given);
    vandalize(shallow);
    vandalize(await store.getPushConfig('s', 't', 'a'));
    vandalize(await store.listPushConfigs('s', 't', { limit: 9 }));
    same(await store.listPushConfigs('s', 't', { limit: 9 }), [kept('a'), kept('b')]);
  },

  async 'are those of their own task, also after its lease was renewed with others'({ store }) {
    const logs = ['s t', 's u', 'r u'].map((name) => {
      const [scope = '', taskId = ''] = name.split(' ');
      return { name, log: logOf(store, { scope, taskId }) };
    });
    const leases = [];
    for (const { name, log } of logs) {
      const { lease } = await log.create(acquire('worker'));
      leases.push(present(lease, `lease of ${name}`));
      const { scope, taskId } = log;
      await store.putPushConfig(push(`of ${name}`, { scope, taskId, cursor: 2 }));
    }
    assert.equal((await store.renew(leases, long)).length, 3);
    for (const { name, log } of logs.toReversed()) {
      await log.commit([chunk(1)], writer('worker'));
      assert.deepEqual(idsOf(await claimed(store, name)), [`of ${name}`]);
    }
  },

  async 'are all tried again now, those of several tasks too'({ store, second, now }) {
    const retryAt = iso(now() + 3_600_000);
    const names = ['t', 'u', 'v'].map((taskId) => ({ scope: 's', taskId, id: `of ${taskId}` }));
    for (const { taskId, id } of names) {
      await logOf(store, { taskId }).create();
      await store.putPushConfig(push(id, { taskId }));
    }
    const first = await store.claimDeliveries({ queue: 'q', holder: 'first', ttlMs: long, limit: 9 });
    for (const delivery of first) await store.advance(delivery, { attempts: 1, retryAt });
    assert.deepEqual(await claimed(store, 'early'), []);
    await second.retryNow(names);
    assert.deepEqual(idsOf(await claimed(store, 'now')).toSorted(), each(names, 'id'));
  },
});

/** All checks of the `PushConfigStore` port. */
export const pushConfigChecks: readonly Check<Both>[] = [
  ...configChecks,
  ...deliveryChecks,
  ...measureWebhooksChecks,
];
