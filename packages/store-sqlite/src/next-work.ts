import { retentionLog } from '@batonjs/store';
import type { Database } from './sql/database.ts';

/** What a store has to do, for a process that decides when it is needed. Times are milliseconds since 1970. */
export interface Work {
  /** Whether a turn or a delivery has a lease that has not run out. */
  readonly isRunning: boolean;
  /** Since when the task or webhook could be claimed that became ready last; absent if none is ready. */
  readonly readySince?: number;
  /** When the next task or webhook is due; absent if none will be. */
  readonly dueAt?: number;
}

type Table = 'tasks' | 'push_configs';

/** From one queue to the next on an index: reads as many entries as there are queues, not tasks. */
function overQueues(table: Table, column: string, pick: 'min' | 'max', condition = ''): string {
  const next = (from: string) =>
    `SELECT queue FROM ${table} WHERE ${column} IS NOT NULL AND queue ${from} ORDER BY queue LIMIT 1`;
  return `
  WITH RECURSIVE queues (queue) AS (
    SELECT (${next(">= ''")})
    UNION ALL
    SELECT (${next('> queues.queue')}) FROM queues WHERE queues.queue IS NOT NULL
  )
  SELECT ${pick}((SELECT ${pick}(${column}) FROM ${table}
    WHERE ${column} IS NOT NULL AND ${table}.queue = queues.queue ${condition})) AS at
  FROM queues WHERE queue IS NOT NULL`;
}

/** Finds out when a process is needed, where none runs without a reason. */
export class NextWork {
  readonly #leased;
  readonly #left;
  readonly #delivering;
  readonly #waiting;
  readonly #ready;
  readonly #due;

  constructor(db: Database) {
    this.#leased = db.prepare(
      overQueues('tasks', 'lease_until', 'max', `AND tasks.queue <> '${retentionLog}'`),
    );
    // Reads all tasks with a lease, of which none runs then.
    this.#left = db.prepare("SELECT max(leased_at) AS at FROM tasks WHERE holder >= '' AND queue <> ?");
    this.#delivering = db.prepare(
      "SELECT 1 FROM push_configs WHERE holder >= '' AND lease_until > ? LIMIT 1",
    );
    this.#waiting = db.prepare(overQueues('tasks', 'waiting_since', 'max'));
    const ofBoth = (pick: 'min' | 'max', condition: string) =>
      (['tasks', 'push_configs'] as const).map((table) =>
        db.prepare(overQueues(table, 'ready_at', pick, condition)),
      );
    this.#ready = ofBoth('max', 'AND ready_at <= ?');
    this.#due = ofBoth('min', 'AND ready_at > ?');
  }

  /** `now`: milliseconds since 1970, of the clock that leases go by as well. */
  at(now: number): Work {
    const leasedUntil = this.#leased.get()?.at;
    const hasTurn = typeof leasedUntil === 'number' && leasedUntil > now;
    const lasts = [this.#waiting.get(), ...this.#ready.map((last) => last.get(now))];
    if (!hasTurn) lasts.push(this.#left.get(retentionLog));
    const since = lasts.map((row) => row?.at).filter((at) => typeof at === 'number');
    const due = this.#due.map((first) => first.get(now)?.at).filter((at) => typeof at === 'number');
    return {
      isRunning: hasTurn || this.#delivering.get(now) !== undefined,
      ...(since.length > 0 && { readySince: Math.max(...since) }),
      ...(due.length > 0 && { dueAt: Math.min(...due) }),
    };
  }
}
