import type { Database } from '../sql/database.ts';

/** What the store has to do next, so that a host knows when to start its process. Times are milliseconds since 1970. */
export interface Work {
  /** Whether a turn or a delivery has a lease that has not run out. */
  readonly isRunning: boolean;
  /** When the newest ready task or webhook became ready. Absent if none is ready. */
  readonly readySince?: number;
  /** When the next task or webhook is due; absent if none will be. */
  readonly dueAt?: number;
}

type Table = 'tasks' | 'webhooks';

/**
 * A statement for the smallest or largest `column` over all queues. It jumps from queue to queue on an index: it reads
 * one entry per queue, not one per task.
 */
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

/** Finds when work is next, for hosts that stop idle processes, such as Durable Objects. */
export class NextWork {
  readonly #leased;
  readonly #left;
  readonly #delivering;
  readonly #waiting;
  readonly #ready;
  readonly #due;

  constructor(db: Database) {
    this.#leased = db.prepare(overQueues('tasks', 'lease_until', 'max'));
    // Reads every task with a lease. Used only when no turn runs: these leases have run out, and are few.
    this.#left = db.prepare("SELECT max(leased_at) AS at FROM tasks WHERE holder >= ''");
    this.#delivering = db.prepare("SELECT 1 FROM webhooks WHERE holder >= '' AND lease_until > ? LIMIT 1");
    this.#waiting = db.prepare(overQueues('tasks', 'waiting_since', 'max'));
    const forBothTables = (pick: 'min' | 'max', comparison: '<=' | '>') =>
      (
        [
          ['tasks', 'due_at'],
          ['webhooks', 'ready_at'],
        ] as const
      ).map(([table, column]) =>
        db.prepare(overQueues(table, column, pick, `AND ${column} ${comparison} ?`)),
      );
    this.#ready = forBothTables('max', '<=');
    this.#due = forBothTables('min', '>');
  }

  /** `now`: milliseconds since 1970. Leases must go by the same clock as deadlines. */
  at(now: number): Work {
    const leasedUntil = this.#leased.get()?.at;
    const hasTurn = typeof leasedUntil === 'number' && leasedUntil > now;
    const newest = [this.#waiting.get(), ...this.#ready.map((last) => last.get(now))];
    if (!hasTurn) newest.push(this.#left.get());
    const since = newest.map((row) => row?.at).filter((at) => typeof at === 'number');
    const due = this.#due.map((first) => first.get(now)?.at).filter((at) => typeof at === 'number');
    return {
      isRunning: hasTurn || this.#delivering.get(now) !== undefined,
      ...(since.length > 0 && { readySince: Math.max(...since) }),
      ...(due.length > 0 && { dueAt: Math.min(...due) }),
    };
  }
}
