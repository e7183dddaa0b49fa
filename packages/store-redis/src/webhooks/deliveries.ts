import type { Delivery, DeliveryOutcome, PushConfigName, PushConfigStore } from '@batonjs/store';
import type { Database } from '../database/database.ts';
import { vital } from '../database/script.ts';
import { taskName } from '../database/shards.ts';
import { timeOf } from '../database/time-of.ts';
import { advance, claimDeliveries, retryNow } from '../lua/webhooks.ts';
import { type PushRow, toPushConfig } from './push-row.ts';

const claimScript = vital(claimDeliveries);
const advanceScript = vital(advance);

const retryScript = vital(retryNow);

type ClaimDeliveries = Parameters<PushConfigStore['claimDeliveries']>[0];

/** Grants deliveries and records their outcomes. */
export class Deliveries {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async claim({ queue, holder, ttlMs, limit }: ClaimDeliveries): Promise<Delivery[]> {
    const given: Delivery[] = [];
    for (const shard of (await this.#database.shards()).shuffled()) {
      if (given.length === limit) break;
      const args = [queue, holder, String(ttlMs), String(limit - given.length)];
      const rows = await this.#database.ofShard(claimScript, shard, args);
      for (const row of rows as unknown as readonly PushRow[]) {
        given.push({ push: toPushConfig(row), holder, fence: row[8] });
      }
    }
    return given;
  }

  async retryNow(webhooks: readonly PushConfigName[]): Promise<void> {
    const retry = ({ scope, taskId, id }: PushConfigName) =>
      this.#database.ofTask(retryScript, taskId, taskName(scope, taskId), [id]);
    await Promise.all(webhooks.map(retry));
  }

  async advance({ push, holder, fence }: Delivery, outcome: DeliveryOutcome): Promise<boolean> {
    const { scope, taskId, id } = push;
    const args = [id, holder, String(fence), ...argumentsOf(outcome)];
    return (await this.#database.ofTask(advanceScript, taskId, taskName(scope, taskId), args)) === 1;
  }
}

function argumentsOf(outcome: DeliveryOutcome): readonly [kind: string, value: string, more: string] {
  if ('dead' in outcome) return ['dead', outcome.dead, ''];
  if ('retryAt' in outcome)
    return ['retry', String(timeOf(outcome.retryAt, 'retryAt')), String(outcome.attempts)];
  return ['cursor', String(outcome.cursor), outcome.keep ? String(outcome.keep.ttlMs) : ''];
}
