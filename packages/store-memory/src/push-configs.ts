import { frozenJson, type PushConfig, type PushConfigStore } from '@batonjs/store';
import { isHeld, type Outbox } from './outbox.ts';

/** The `PushConfigStore` half of a memory store. */
export function pushConfigs(outbox: Outbox, now: () => number): PushConfigStore {
  return {
    async putPushConfig(push, atMost = Number.POSITIVE_INFINITY) {
      const known = outbox.get(push).get(push.id);
      if (!known && outbox.get(push).size >= atMost) return false;
      const cursor = Math.max(push.cursor, known?.push.cursor ?? 0);
      if (known) outbox.remove(known);
      const fresh = frozenJson({ ...push, cursor, attempts: 0 });
      outbox.put({ push: fresh, fence: (known?.fence ?? 0) + 1, scheduled: undefined });
      return true;
    },

    async getPushConfig(scope, taskId, id) {
      return outbox.get({ scope, taskId }).get(id)?.push;
    },

    async listPushConfigs(scope, taskId, { limit, after }) {
      const pushes = [...outbox.get({ scope, taskId }).values()].map(({ push }) => push);
      return pushes
        .filter(({ id }) => after === undefined || id > after)
        .sort(byName)
        .slice(0, limit);
    },

    async removePushConfig(scope, taskId, id) {
      const webhook = outbox.get({ scope, taskId }).get(id);
      if (webhook) outbox.remove(webhook);
      return webhook !== undefined;
    },

    async claimDeliveries({ queue, holder, ttlMs, limit }) {
      return outbox.due(queue, now(), limit).map((webhook) => {
        webhook.fence++;
        webhook.holder = holder;
        webhook.leaseUntil = now() + ttlMs;
        outbox.put(webhook);
        return { push: webhook.push, holder, fence: webhook.fence };
      });
    },

    async advance(delivery, outcome) {
      const webhook = outbox.get(delivery.push).get(delivery.push.id);
      if (!isHeld(webhook, delivery)) return false;
      const keep = 'cursor' in outcome ? outcome.keep : undefined;
      if (keep) webhook.leaseUntil = now() + keep.ttlMs;
      else webhook.holder = undefined;
      webhook.push =
        'cursor' in outcome
          ? fresh({ ...webhook.push, cursor: outcome.cursor })
          : frozenJson({ ...webhook.push, ...outcome });
      outbox.put(webhook);
      return true;
    },

    async retryNow(webhooks) {
      for (const name of webhooks) {
        const webhook = outbox.get(name).get(name.id);
        if (!webhook || webhook.holder !== undefined || webhook.push.dead !== undefined) continue;
        const { retryAt, ...push } = webhook.push;
        if (retryAt === undefined) continue;
        webhook.push = frozenJson(push);
        outbox.put(webhook);
      }
    },

    async listDead(queue, { limit }) {
      const pushes = outbox.all().map(({ push }) => push);
      return pushes
        .filter((push) => push.dead !== undefined && push.queue === queue)
        .sort(byName)
        .slice(0, limit);
    },

    async revive(scope, taskId, id) {
      const webhook = outbox.get({ scope, taskId }).get(id);
      if (webhook?.push.dead === undefined) return false;
      webhook.push = fresh(webhook.push);
      outbox.put(webhook);
      return true;
    },
  };
}

/** The webhook without its failures. */
const fresh = ({ retryAt, dead, ...push }: PushConfig): PushConfig => frozenJson({ ...push, attempts: 0 });

function byName(a: PushConfig, b: PushConfig): number {
  for (const key of ['scope', 'taskId', 'id'] as const)
    if (a[key] !== b[key]) return a[key] < b[key] ? -1 : 1;
  return 0;
}
