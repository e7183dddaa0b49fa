import type { PushConfig, PushConfigStore, Scope } from '@batonjs/store';
import { keyOf } from '../database/keys.ts';
import type { Transactions } from '../database/transactions.ts';
import type { Deliveries } from './deliveries.ts';
import { toPushConfig } from './push-row.ts';

type Put = Parameters<PushConfigStore['putPushConfig']>[0];

/** Keeps webhooks. */
export class PushConfigs {
  readonly #transactions: Transactions;
  readonly #deliveries: Deliveries;
  readonly #lock: string;
  readonly #count: string;
  readonly #put: string;
  readonly #mark: string;
  readonly #get: string;
  readonly #list: string;
  readonly #remove: string;
  readonly #dead: string;
  readonly #revive: string;

  constructor(schema: string, transactions: Transactions, deliveries: Deliveries) {
    this.#transactions = transactions;
    this.#deliveries = deliveries;
    const table = `${schema}.push_configs`;
    const one = 'key = $1 AND config_key = $2';
    this.#lock = `SELECT pg_advisory_xact_lock(hashtext($1))`;
    this.#mark = `UPDATE ${schema}.tasks SET has_push = true, revision = revision + 1 WHERE key = $1`;
    this.#count = `SELECT count(*) FILTER (WHERE config_key = $2) AS same, count(*) AS configs
      FROM ${table} WHERE key = $1`;
    this.#put = `INSERT INTO ${table} AS p (key, config_key, scope, task_id, config_id, config, protocol_version,
        queue, queue_key, cursor, attempts, fence)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0)
      ON CONFLICT (key, config_key) DO UPDATE SET config = excluded.config,
        protocol_version = excluded.protocol_version, queue = excluded.queue, queue_key = excluded.queue_key,
        cursor = greatest(p.cursor, excluded.cursor), attempts = 0, retry_at = NULL, dead = NULL,
        fence = p.fence + 1, holder = NULL, lease_until = NULL, ready_at = NULL`;
    this.#get = `SELECT * FROM ${table} WHERE ${one}`;
    this.#list = `SELECT * FROM ${table} WHERE key = $1 AND config_id > $2 ORDER BY config_id LIMIT $3`;
    this.#remove = `DELETE FROM ${table} WHERE ${one} RETURNING key`;
    this.#dead = `SELECT * FROM ${table} WHERE queue_key = $1 AND dead IS NOT NULL
      ORDER BY scope, task_id, config_id LIMIT $2`;
    this.#revive = `UPDATE ${table} SET dead = NULL, attempts = 0, retry_at = NULL, ready_at = NULL
      WHERE ${one} AND dead IS NOT NULL RETURNING key`;
  }

  /** Resolves `false`, changing nothing, if the task has `atMost` other webhooks already. */
  put(push: Put, atMost: number | undefined): Promise<boolean> {
    const { scope, taskId, id, config, protocolVersion, queue, cursor } = push;
    const [key, configKey] = [keyOf(scope, taskId), keyOf(id)];
    const json = JSON.stringify(config);
    return this.#deliveries.change(key, configKey, async (session) => {
      // The task may not exist yet, so that there may be no row to lock.
      await session.query(this.#lock, [key]);
      await session.query(this.#mark, [key]);
      const [counted] = await session.query(this.#count, [key, configKey]);
      if (atMost !== undefined && Number(counted!.same) === 0 && Number(counted!.configs) >= atMost)
        return false;
      const ids = [key, configKey, scope, taskId, id];
      await session.query(this.#put, [...ids, json, protocolVersion, queue, keyOf(queue), cursor]);
      return true;
    });
  }

  async get(scope: Scope, taskId: string, id: string): Promise<PushConfig | undefined> {
    const [row] = await this.#transactions.query(this.#get, [keyOf(scope, taskId), keyOf(id)]);
    return row && toPushConfig(row);
  }

  async list(
    scope: Scope,
    taskId: string,
    { limit, after = '' }: { limit: number; after?: string },
  ): Promise<PushConfig[]> {
    const rows = await this.#transactions.query(this.#list, [keyOf(scope, taskId), after, limit]);
    return rows.map(toPushConfig);
  }

  async remove(scope: Scope, taskId: string, id: string): Promise<boolean> {
    const rows = await this.#transactions.query(this.#remove, [keyOf(scope, taskId), keyOf(id)]);
    return rows.length > 0;
  }

  async dead(queue: string, limit: number): Promise<PushConfig[]> {
    return (await this.#transactions.query(this.#dead, [keyOf(queue), limit])).map(toPushConfig);
  }

  revive(scope: Scope, taskId: string, id: string): Promise<boolean> {
    const [key, configKey] = [keyOf(scope, taskId), keyOf(id)];
    return this.#deliveries.change(key, configKey, async (session) => {
      return (await session.query(this.#revive, [key, configKey])).length > 0;
    });
  }
}
