import type { Database } from '../sql/database.ts';
import type { Contexts } from './contexts.ts';
import type { Totals } from './totals.ts';

interface ClosedRow {
  readonly id: number;
  readonly scope: string;
  readonly task_id: string;
  readonly state: string;
  readonly context: number;
}

/** Deletes old logs. Called inside the caller's transaction. */
export class Prune {
  readonly #totals: Totals;
  readonly #contexts: Contexts;
  readonly #closed;
  readonly #deletions;
  readonly #deletePushConfigs;

  constructor(db: Database, totals: Totals, contexts: Contexts) {
    this.#totals = totals;
    this.#contexts = contexts;
    this.#closed = db.prepare(
      `SELECT id, scope, task_id, state, context FROM tasks WHERE closed = 1 AND status_at < ? AND NOT EXISTS (
         SELECT 1 FROM push_configs WHERE push_configs.scope = tasks.scope AND push_configs.task_id = tasks.task_id
           AND dead IS NULL AND cursor < tasks.version
       ) ORDER BY status_at LIMIT ?`,
    );
    this.#deletions = [
      ...['facts', 'pieces', 'snapshots', 'once_keys'].map((table) =>
        db.prepare(`DELETE FROM ${table} WHERE task = ?`),
      ),
      db.prepare('DELETE FROM tasks WHERE id = ?'),
    ];
    this.#deletePushConfigs = db.prepare('DELETE FROM push_configs WHERE scope = ? AND task_id = ?');
  }

  /** Returns the number of deleted logs. */
  delete(closedBefore: string, limit: number): number {
    const found = this.#closed.all(Date.parse(closedBefore), limit) as unknown as ClosedRow[];
    for (const { id, scope, task_id, state, context } of found) {
      for (const deletion of this.#deletions) deletion.run(id);
      this.#deletePushConfigs.run(scope, task_id);
      this.#totals.add(scope, state, -1);
      this.#contexts.leave(context, state === '' ? 0 : 1);
      this.#contexts.deleteUnused(context);
    }
    return found.length;
  }
}
