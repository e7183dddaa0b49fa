import type { Delivery, DeliveryOutcome, PushConfigName, PushConfigStore, Scope } from '@batonjs/store';
import type { Changes } from '../notifications/changes.ts';
import type { Database } from '../sql/database.ts';
import { type PushRow, toPushConfig } from './push-row.ts';

type ClaimDeliveries = Parameters<PushConfigStore['claimDeliveries']>[0];

/** Grants deliveries and records their outcomes. Methods that write are called inside the caller's transaction. */
export class Deliveries {
  readonly #changes: Changes;
  readonly #plan;
  readonly #queues;
  readonly #any;
  readonly #due;
  readonly #hold;
  readonly #held;
  readonly #keep;
  readonly #delivered;
  readonly #failed;
  readonly #givenUp;
  readonly #retryNow;
  readonly #endAll;

  constructor(db: Database, changes: Changes) {
    this.#changes = changes;
    this.#plan = db.prepare(
      `UPDATE push_configs SET ready_at = max(coalesce(retry_at, 0), coalesce(lease_until, ?))
       WHERE scope = ? AND task_id = ? AND ready_at IS NULL AND dead IS NULL AND cursor <
         (SELECT version FROM tasks WHERE tasks.task_id = push_configs.task_id AND tasks.scope = push_configs.scope)`,
    );
    this.#queues = db.prepare(
      `SELECT DISTINCT queue FROM push_configs
       WHERE scope = ? AND task_id = ? AND ready_at IS NOT NULL AND holder IS NULL`,
    );
    this.#any = db.prepare('SELECT 1 FROM push_configs WHERE scope = ? AND task_id = ? LIMIT 1');
    this.#due = db.prepare(
      'SELECT * FROM push_configs WHERE queue = ? AND ready_at <= ? ORDER BY ready_at, id LIMIT ?',
    );
    this.#hold = db.prepare(
      'UPDATE push_configs SET holder = ?, fence = ?, lease_until = ?, ready_at = ? WHERE id = ?',
    );
    this.#held = db.prepare(
      'SELECT id FROM push_configs WHERE scope = ? AND task_id = ? AND config_id = ? AND holder = ? AND fence = ?',
    );
    const after = (set: string) => db.prepare(`UPDATE push_configs SET ready_at = NULL, ${set} WHERE id = ?`);
    const free = 'holder = NULL, lease_until = NULL';
    this.#keep = after('cursor = ?, attempts = 0, retry_at = NULL, lease_until = ?');
    this.#delivered = after(`cursor = ?, attempts = 0, retry_at = NULL, ${free}`);
    this.#failed = after(`retry_at = ?, attempts = ?, ${free}`);
    this.#givenUp = after(`dead = ?, ${free}`);
    this.#retryNow = db.prepare(
      `UPDATE push_configs SET retry_at = NULL, ready_at = NULL WHERE scope = ? AND task_id = ? AND config_id = ?
         AND retry_at IS NOT NULL AND holder IS NULL AND dead IS NULL`,
    );
    this.#endAll = db.prepare(
      `UPDATE push_configs SET holder = NULL, lease_until = NULL,
         ready_at = CASE WHEN ready_at IS NOT NULL THEN coalesce(retry_at, ?) END WHERE holder IS NOT NULL`,
    );
  }

  /** Whether the task has a webhook. */
  any(scope: Scope, taskId: string): boolean {
    return this.#any.get(scope, taskId) !== undefined;
  }

  /** Makes the task's webhooks due that are behind its log, and notifies of those without a delivery under way. */
  plan(scope: Scope, taskId: string, now: number): void {
    this.#plan.run(now, scope, taskId);
    for (const { queue } of this.#queues.all(scope, taskId)) this.#changes.touch({ queue: String(queue) });
  }

  /**
   * Whether a claim would find a webhook. Reads without the write lock, so that the answer may be outdated at once.
   */
  anyDue(queue: string, now: number): boolean {
    return this.#due.get(queue, now, 1) !== undefined;
  }

  claim({ queue, holder, ttlMs, limit }: ClaimDeliveries, now: number): Delivery[] {
    const due = this.#due.all(queue, now, limit) as unknown as PushRow[];
    return due.map((row) => {
      const fence = row.fence + 1;
      this.#hold.run(holder, fence, now + ttlMs, now + ttlMs, row.id);
      return { push: toPushConfig(row), holder, fence };
    });
  }

  /** Ends all deliveries that are under way, where no other process can have one: they are due again. */
  endAll(now: number): void {
    this.#endAll.run(now);
  }

  retryNow(webhooks: readonly PushConfigName[], now: number): void {
    for (const { scope, taskId, id } of webhooks) {
      if (this.#retryNow.run(scope, taskId, id).changes > 0) this.plan(scope, taskId, now);
    }
  }

  advance({ push, holder, fence }: Delivery, outcome: DeliveryOutcome, now: number): boolean {
    const { scope, taskId } = push;
    const held = this.#held.get(scope, taskId, push.id, holder, fence) as { id: number } | undefined;
    if (!held) return false;
    if ('dead' in outcome) this.#givenUp.run(outcome.dead, held.id);
    else if ('retryAt' in outcome) this.#failed.run(Date.parse(outcome.retryAt), outcome.attempts, held.id);
    else if (outcome.keep) this.#keep.run(outcome.cursor, now + outcome.keep.ttlMs, held.id);
    else this.#delivered.run(outcome.cursor, held.id);
    this.plan(scope, taskId, now);
    return true;
  }
}
