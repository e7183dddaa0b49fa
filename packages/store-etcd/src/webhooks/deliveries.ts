import type { Delivery, DeliveryOutcome, PushConfigName, PushConfigStore } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import type { ClusterClock } from '../layout/cluster-clock.ts';
import { insideUntil, type Keys, lastPart } from '../layout/keys.ts';
import type { InRow } from './large-configs.ts';
import { isBehind, type PushRow, type Webhook } from './push-row.ts';
import type { FoundPushes, PushRows } from './push-rows.ts';

type ClaimDeliveries = Parameters<PushConfigStore['claimDeliveries']>[0];

/** Grants deliveries and records their outcomes. */
export class Deliveries {
  readonly #cluster: Cluster;
  readonly #keys: Keys;
  readonly #clock: ClusterClock;
  readonly #rows: PushRows;

  constructor(cluster: Cluster, keys: Keys, clock: ClusterClock, rows: PushRows) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#clock = clock;
    this.#rows = rows;
  }

  async claim(request: ClaimDeliveries): Promise<Delivery[]> {
    await this.#clock.follow();
    const { queue, limit } = request;
    const ranges = await this.#cluster.read(
      [
        insideUntil(this.#keys.deliveries(queue), Date.now()),
        insideUntil(this.#keys.laterDeliveries(queue), this.#clock.now()),
      ].map((range) => ({ ...range, limit, keysOnly: true })),
    );
    const found = ranges.flatMap(({ kvs }) => kvs.map(({ key }) => String(key)));
    found.sort((a, b) => (timeAndTask(a) < timeAndTask(b) ? -1 : 1));
    const rows = await this.#rows.readAll([...new Set(found.map(lastPart))].slice(0, limit));
    const all: InRow[] = [];
    for (const { scope, taskId } of rows) {
      if (all.length === limit) break;
      let granted: InRow[] = [];
      await this.#rows.change(scope, taskId, (pushes) => {
        granted = [];
        return this.#grant(pushes, request, limit - all.length, granted);
      });
      all.push(...granted);
    }
    const configs = await this.#rows.configsOf(all);
    const { holder } = request;
    // The right to deliver to one that was replaced or removed meanwhile is lost already.
    return configs.flatMap((push, n) => (push ? { push, holder, fence: all[n]!.webhook.fence + 1 } : []));
  }

  /** The webhooks after at most so many were granted, which are added to `granted`. */
  #grant(
    { row, version }: FoundPushes,
    { queue, holder, ttlMs }: ClaimDeliveries,
    limit: number,
    granted: InRow[],
  ): readonly Webhook[] | undefined {
    const [now, leaseNow] = [Date.now(), this.#clock.now()];
    const after = row.webhooks.map((webhook) => {
      const { retryAt, holder: other, leaseUntil = 0, fence } = webhook;
      const isDue = retryAt === undefined || Date.parse(retryAt) <= now;
      const isFree = other === undefined ? isDue : leaseUntil <= leaseNow;
      if (webhook.queue !== queue || !isFree || !isBehind(webhook, version) || granted.length === limit)
        return webhook;
      granted.push({ row, webhook });
      return { ...webhook, holder, fence: fence + 1, leaseUntil: leaseNow + ttlMs };
    });
    return granted.length > 0 ? after : undefined;
  }

  async retryNow(names: readonly PushConfigName[]): Promise<void> {
    for (const { scope, taskId, id } of names) {
      const waits = (one: Webhook) =>
        one.id === id && one.retryAt !== undefined && one.holder === undefined && one.dead === undefined;
      await this.#rows.change(scope, taskId, ({ row: { webhooks } }) => {
        if (!webhooks.some(waits)) return undefined;
        return webhooks.map((one) => (waits(one) ? { ...one, retryAt: undefined } : one));
      });
    }
  }

  async advance({ push, holder, fence }: Delivery, outcome: DeliveryOutcome): Promise<boolean> {
    if ('keep' in outcome) await this.#clock.follow();
    return this.#rows.change(push.scope, push.taskId, ({ row }: { row: PushRow }) => {
      const isHeld = (one: Webhook) => one.id === push.id && one.holder === holder && one.fence === fence;
      if (!row.webhooks.some(isHeld)) return undefined;
      return row.webhooks.map((one) => (isHeld(one) ? { ...one, ...this.#changeOf(outcome) } : one));
    });
  }

  #changeOf(outcome: DeliveryOutcome): Partial<Webhook> {
    const free = { holder: undefined, leaseUntil: undefined };
    if ('dead' in outcome) return { ...free, dead: outcome.dead };
    if ('retryAt' in outcome) return { ...free, retryAt: outcome.retryAt, attempts: outcome.attempts };
    const delivered = { cursor: outcome.cursor, attempts: 0, retryAt: undefined };
    if (outcome.keep) return { ...delivered, leaseUntil: this.#clock.now() + outcome.keep.ttlMs };
    return { ...delivered, ...free };
  }
}

const timeAndTask = (key: string): string => key.split('/').slice(-2).join('/');
