import type { Delivery, DeliveryOutcome, PushConfigName, PushConfigStore } from '@batonjs/store';
import { clock, type Session } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import type { Transactions } from '../database/transactions.ts';
import { Changes } from '../notifications/changes.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import { toPushConfig } from './push-row.ts';

type ClaimDeliveries = Parameters<PushConfigStore['claimDeliveries']>[0];

/** Grants deliveries and records their outcomes. */
export class Deliveries {
  readonly #transactions: Transactions;
  readonly #wakeups: Wakeups;
  readonly #lock: string;
  readonly #plan: string;
  readonly #queues: string;
  readonly #any: string;
  readonly #claim: string;
  readonly #retryNow: string;
  readonly #advance: (set: string) => string;

  constructor(schema: string, transactions: Transactions, wakeups: Wakeups) {
    this.#transactions = transactions;
    this.#wakeups = wakeups;
    const table = `${schema}.push_configs`;
    this.#lock = `SELECT 1 FROM ${table} WHERE key = ANY($1::text[]) ORDER BY key, config_key FOR UPDATE`;
    this.#plan = `UPDATE ${table} AS p
      SET ready_at = greatest(coalesce(p.retry_at, 0), coalesce(p.lease_until, $2))
      FROM ${schema}.tasks AS t
      WHERE p.key = ANY($1::text[]) AND ($3::text IS NULL OR p.config_key = $3) AND t.key = p.key
        AND p.ready_at IS NULL AND p.dead IS NULL AND p.cursor < t.version`;
    this.#queues = `SELECT DISTINCT queue FROM ${table}
      WHERE key = ANY($1::text[]) AND ready_at IS NOT NULL AND holder IS NULL`;
    this.#any = `SELECT 1 FROM ${table} WHERE queue_key = $1 AND ready_at <= (SELECT ${clock}) LIMIT 1`;
    this.#claim = `WITH due AS (
        SELECT key, config_key FROM ${table} WHERE queue_key = $1 AND ready_at <= $2
        ORDER BY ready_at LIMIT $3 FOR UPDATE SKIP LOCKED
      )
      UPDATE ${table} AS p SET holder = $4, fence = p.fence + 1, lease_until = $5, ready_at = $5
      FROM due WHERE p.key = due.key AND p.config_key = due.config_key RETURNING p.*`;
    const one = 'key = $1 AND config_key = $2';
    this.#retryNow = `UPDATE ${table} SET retry_at = NULL, ready_at = NULL
      WHERE ${one} AND retry_at IS NOT NULL AND holder IS NULL AND dead IS NULL RETURNING key`;
    this.#advance = (set) =>
      `UPDATE ${table} SET ready_at = NULL, ${set} WHERE ${one} AND holder = $3 AND fence = $4 RETURNING key`;
  }

  /**
   * Makes the webhooks of these tasks due that are behind their logs (or only the one with this key), and notes the
   * queues of those without a delivery under way. Called inside the caller's transaction.
   */
  async plan(
    session: Session,
    now: number,
    keys: readonly string[],
    changes: Changes,
    configKey: string | null = null,
  ): Promise<void> {
    // An outcome that is being recorded has not seen the longer log, and the next statement sees that outcome only once
    // it is committed.
    if (configKey === null) await session.query(this.#lock, [keys]);
    await session.query(this.#plan, [keys, now, configKey]);
    for (const { queue } of await session.query(this.#queues, [keys]))
      changes.touch({ queue: String(queue) });
  }

  async claim({ queue, holder, ttlMs, limit }: ClaimDeliveries): Promise<Delivery[]> {
    const any = await this.#transactions.query(this.#any, [keyOf(queue)]);
    if (any.length === 0) return [];
    return this.#transactions.run(async (session, now) => {
      const rows = await session.query(this.#claim, [keyOf(queue), now, limit, holder, now + ttlMs]);
      return rows.map((row) => ({ push: toPushConfig(row), holder, fence: Number(row.fence) }));
    });
  }

  /** Runs a write of one webhook and makes it due again if it is behind its log. Resolves whether it was written. */
  async change(
    key: string,
    configKey: string,
    write: (session: Session, now: number) => Promise<boolean>,
  ): Promise<boolean> {
    let changes = new Changes();
    const isWritten = await this.#transactions.run(async (session, now) => {
      changes = new Changes();
      if (!(await write(session, now))) return false;
      // A statement of its own sees the log that a commit made longer while this one waited for its lock.
      await this.plan(session, now, [key], changes, configKey);
      return true;
    });
    this.#wakeups.announce(changes);
    return isWritten;
  }

  async retryNow(webhooks: readonly PushConfigName[]): Promise<void> {
    for (const { scope, taskId, id } of webhooks) {
      const [key, configKey] = [keyOf(scope, taskId), keyOf(id)];
      await this.change(key, configKey, async (session) => {
        return (await session.query(this.#retryNow, [key, configKey])).length > 0;
      });
    }
  }

  advance({ push, holder, fence }: Delivery, outcome: DeliveryOutcome): Promise<boolean> {
    const [key, configKey] = [keyOf(push.scope, push.taskId), keyOf(push.id)];
    return this.change(key, configKey, async (session, now) => {
      const [set, ...values] = changeOf(outcome, now);
      const rows = await session.query(this.#advance(set), [key, configKey, holder, fence, ...values]);
      return rows.length > 0;
    });
  }
}

/** What an outcome sets, and the values of `$5` and `$6`. */
function changeOf(outcome: DeliveryOutcome, now: number): [set: string, ...values: unknown[]] {
  const free = 'holder = NULL, lease_until = NULL';
  if ('dead' in outcome) return [`dead = $5, ${free}`, outcome.dead];
  if ('retryAt' in outcome)
    return [`retry_at = $5, attempts = $6, ${free}`, Date.parse(outcome.retryAt), outcome.attempts];
  const delivered = 'cursor = $5, attempts = 0, retry_at = NULL';
  if (outcome.keep) return [`${delivered}, lease_until = $6`, outcome.cursor, now + outcome.keep.ttlMs];
  return [`${delivered}, ${free}`, outcome.cursor];
}
