import type { DatabaseSync } from 'node:sqlite';
import { type ClaimRequest, claimable, type Lease } from '@batonjs/store';
import { type TaskRow, type TaskRows, taskColumns, toRow } from './task-row.ts';

/** Gives leases out and keeps them alive. What changes something is called inside transactions of others. */
export class Leases {
  readonly #rows: TaskRows;
  readonly #held;
  readonly #waiting;
  readonly #ready;
  readonly #named;
  readonly #countWaiting;

  constructor(db: DatabaseSync, rows: TaskRows) {
    this.#rows = rows;
    const find = (condition: string) =>
      db.prepare(`SELECT ${taskColumns} FROM tasks WHERE ${condition} LIMIT ?`);
    this.#held = find('holder = ? AND queue = ?');
    this.#waiting = find('queue = ? AND waiting_since IS NOT NULL ORDER BY waiting_since');
    this.#ready = find('queue = ? AND ready_at <= ? ORDER BY ready_at');
    this.#named = find('task_id = ? AND queue = ?');
    this.#countWaiting = db.prepare(
      'SELECT count(*) AS tasks FROM tasks WHERE queue = ? AND waiting_since IS NOT NULL',
    );
  }

  /** Whether a claim would get anything, as far as a look without a lock can tell. */
  anyFor(request: ClaimRequest, now: number): boolean {
    return this.#candidates({ ...request, limit: 1 }, now).length > 0;
  }

  claim(request: ClaimRequest, now: number): Lease[] {
    return this.#candidates(request, now).map(({ row: found, cause }) => {
      const { holder, ttlMs } = request;
      const before = toRow(found);
      const fence = cause === 'held' ? before.fence : before.fence + 1;
      const after = { ...before, fence, holder, wanted: false, leaseUntil: now + ttlMs };
      this.#rows.update(found, after, found.context, now);
      return { scope: found.scope, taskId: found.task_id, queue: request.queue, holder, fence, cause };
    });
  }

  /** Those of the leases that are still held, now for `ttlMs` more. */
  renew(leases: readonly Lease[], ttlMs: number, now: number): Lease[] {
    return leases.filter(({ scope, taskId, holder, fence }) => {
      const found = this.#rows.find(scope, taskId);
      if (found?.holder !== holder || found.fence !== fence) return false;
      this.#rows.update(found, { ...toRow(found), leaseUntil: now + ttlMs }, found.context, now);
      return true;
    });
  }

  waiting(queue: string): number {
    return (this.#countWaiting.get(queue) as { tasks: number }).tasks;
  }

  /** What the holder has already comes first, then what was ready longest. */
  #candidates(request: ClaimRequest, now: number) {
    const { queue, holder, limit, taskId } = request;
    const held = asRows(this.#held.all(holder, queue, limit));
    const free =
      taskId === undefined
        ? asRows([...this.#waiting.all(queue, limit), ...this.#ready.all(queue, now, limit)]).sort(
            readierFirst,
          )
        : // Tasks of other scopes may have the same id, and not be free.
          asRows(this.#named.all(taskId, queue, -1));
    const found = new Map([...held, ...free].map((row) => [row.id, row]));
    return [...found.values()]
      .flatMap((row) => {
        const cause =
          taskId === undefined || row.task_id === taskId ? claimable(toRow(row), request, now) : undefined;
        return cause === undefined ? [] : [{ row, cause }];
      })
      .slice(0, limit);
  }
}

const asRows = (found: unknown[]) => found as TaskRow[];

const readySince = ({ waiting_since, ready_at }: TaskRow): number => waiting_since ?? ready_at ?? 0;

const readierFirst = (a: TaskRow, b: TaskRow): number => readySince(a) - readySince(b) || a.id - b.id;
