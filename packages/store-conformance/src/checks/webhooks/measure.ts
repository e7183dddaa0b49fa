import assert from 'node:assert/strict';
import { section } from '../../fixture/check.ts';
import { logOf } from '../../samples/log.ts';
import { nth } from '../../samples/present.ts';
import { type Both, push } from '../../samples/webhook.ts';

const queue = 'q';
const ttlMs = 60_000;

export const measureWebhooksChecks = section<Both>('measure', {
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
    assert.equal((await second.measure?.(queue))?.undeliveredMs, undefined);
    await store.advance(nth(deliveries, 0), { dead: 'gone' });
    await store.advance(nth(deliveries, 1), { cursor: 2 });
    const over = await second.measure?.(queue);
    assert.deepEqual([over?.undelivered, over?.dead], [0, 1]);
    await store.removePushConfig('s', 't', nth(deliveries, 0).push.id);
    assert.equal((await second.measure?.(queue))?.dead, 0);
  },
});
