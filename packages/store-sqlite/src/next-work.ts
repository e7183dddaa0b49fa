import type { Database } from './sql/database.ts';

/** From one queue to the next on an index: reads as many entries as there are queues, not tasks. */
const soonestOf = (table: string): string => `
  WITH RECURSIVE queues (queue) AS (
    SELECT (SELECT queue FROM ${table} WHERE ready_at IS NOT NULL AND queue >= '' ORDER BY queue LIMIT 1)
    UNION ALL
    SELECT (SELECT queue FROM ${table} WHERE ready_at IS NOT NULL AND queue > queues.queue ORDER BY queue LIMIT 1)
    FROM queues WHERE queues.queue IS NOT NULL
  )
  SELECT min((SELECT min(ready_at) FROM ${table}
    WHERE ready_at IS NOT NULL AND ${table}.queue = queues.queue)) AS at FROM queues WHERE queue IS NOT NULL`;

/** Finds out when a process is needed, where none runs without a reason. */
export class NextWork {
  readonly #busy;
  readonly #soonest;

  constructor(db: Database) {
    this.#busy = db.prepare(
      `SELECT EXISTS (SELECT 1 FROM tasks WHERE holder >= '')
         OR EXISTS (SELECT 1 FROM tasks WHERE queue >= '' AND waiting_since IS NOT NULL) AS busy`,
    );
    this.#soonest = ['tasks', 'push_configs'].map((table) => db.prepare(soonestOf(table)));
  }

  /**
   * When the next task or webhook is due, in milliseconds since 1970; 0 while a turn runs or waits; undefined if there
   * is nothing to do before the next request.
   */
  at(): number | undefined {
    if (this.#busy.get()?.busy === 1) return 0;
    const due = this.#soonest.map((statement) => statement.get()?.at).filter((at) => typeof at === 'number');
    return due.length > 0 ? Math.min(...due) : undefined;
  }
}
