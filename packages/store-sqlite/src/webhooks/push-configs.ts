import type { PushConfig, PushConfigStore, Scope } from '@batonjs/store';
import type { Database } from '../sql/database.ts';
import type { Deliveries } from './deliveries.ts';
import { type PushRow, toPushConfig } from './push-row.ts';

type Put = Parameters<PushConfigStore['putPushConfig']>[0];

/** Keeps webhooks. Methods that write are called inside the caller's transaction. */
export class PushConfigs {
  readonly #deliveries: Deliveries;
  readonly #put;
  readonly #markTask;
  readonly #count;
  readonly #get;
  readonly #list;
  readonly #remove;
  readonly #dead;
  readonly #revive;

  constructor(db: Database, deliveries: Deliveries) {
    this.#deliveries = deliveries;
    const one = 'scope = ? AND task_id = ? AND config_id = ?';
    this.#put = db.prepare(
      `INSERT INTO push_configs (scope, task_id, config_id, config, protocol_version, queue, cursor, attempts, fence)
       VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)
       ON CONFLICT DO UPDATE SET config = excluded.config, protocol_version = excluded.protocol_version,
         queue = excluded.queue, cursor = max(cursor, excluded.cursor), attempts = 0, retry_at = NULL, dead = NULL,
         fence = fence + 1, holder = NULL, lease_until = NULL, ready_at = NULL`,
    );
    this.#markTask = db.prepare('UPDATE tasks SET has_push = 1 WHERE task_id = ? AND scope = ?');
    this.#count = db.prepare('SELECT count(*) AS configs FROM push_configs WHERE scope = ? AND task_id = ?');
    this.#get = db.prepare(`SELECT * FROM push_configs WHERE ${one}`);
    this.#list = db.prepare(
      'SELECT * FROM push_configs WHERE scope = ? AND task_id = ? AND config_id > ? ORDER BY config_id LIMIT ?',
    );
    this.#remove = db.prepare(`DELETE FROM push_configs WHERE ${one}`);
    this.#dead = db.prepare(
      'SELECT * FROM push_configs WHERE queue = ? AND dead IS NOT NULL ORDER BY scope, task_id, config_id LIMIT ?',
    );
    this.#revive = db.prepare(
      `UPDATE push_configs SET dead = NULL, attempts = 0, retry_at = NULL WHERE ${one} AND dead IS NOT NULL`,
    );
  }

  /** Returns false, changing nothing, if the task has `atMost` other webhooks already. */
  put(
    { scope, taskId, id, config, protocolVersion, queue, cursor }: Put,
    atMost: number | undefined,
    now: number,
  ): boolean {
    if (atMost !== undefined && !this.get(scope, taskId, id) && this.#countOf(scope, taskId) >= atMost)
      return false;
    this.#put.run(scope, taskId, id, JSON.stringify(config), protocolVersion, queue, cursor);
    this.#markTask.run(taskId, scope);
    this.#deliveries.plan(scope, taskId, now);
    return true;
  }

  #countOf(scope: Scope, taskId: string): number {
    return (this.#count.get(scope, taskId) as { configs: number }).configs;
  }

  get(scope: Scope, taskId: string, id: string): PushConfig | undefined {
    const row = this.#get.get(scope, taskId, id) as unknown as PushRow | undefined;
    return row && toPushConfig(row);
  }

  list(scope: Scope, taskId: string, { limit, after = '' }: { limit: number; after?: string }): PushConfig[] {
    return (this.#list.all(scope, taskId, after, limit) as unknown as PushRow[]).map(toPushConfig);
  }

  remove(scope: Scope, taskId: string, id: string): boolean {
    return this.#remove.run(scope, taskId, id).changes > 0;
  }

  dead(queue: string, limit: number): PushConfig[] {
    return (this.#dead.all(queue, limit) as unknown as PushRow[]).map(toPushConfig);
  }

  revive(scope: Scope, taskId: string, id: string, now: number): boolean {
    if (this.#revive.run(scope, taskId, id).changes === 0) return false;
    this.#deliveries.plan(scope, taskId, now);
    return true;
  }
}
