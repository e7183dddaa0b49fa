import type { DatabaseSync } from 'node:sqlite';
import { type ClaimRequest, claimable, type Lease } from '@batonjs/store';
import { type TaskRow, type TaskRows, taskColumns, toRow } from './task-row.ts';

/** Gives leases out and keeps them alive. What changes something is called inside transactions of others. */
export class Leases {
  readonly #rows: TaskRows;
  readonly #held;
  readonly #free;
  readonly #freeOne;
  readonly #waiting;

  constructor(db: DatabaseSync, rows: TaskRows) {
    this.#rows = rows;
    this.#held = db.prepare(`SELECT ${taskColumns} FROM tasks WHERE holder = ? AND queue = ? LIMIT ?`);
    this.#free = db.prepare(
      `SELECT ${taskColumns} FROM tasks WHERE id IN (
         SELECT id FROM (SELECT id FROM tasks WHERE queue = ? AND waiting_since IS NOT NULL ORDER BY waiting_since LIMIT ?)
         UNION ALL
         SELECT id FROM (SELECT id FROM tasks WHERE queue = ? AND ready_at <= ? ORDER BY ready_at LIMIT ?)
       ) ORDER BY coalesce(waiting_since, ready_at), id LIMIT ?`,
    );
    this.#freeOne = db.prepare(
      `SELECT ${taskColumns} FROM tasks WHERE task_id = ? AND queue = ? ORDER BY id LIMIT ?`,
    );
    this.#waiting = db.prepare(
      'SELECT count(*) AS tasks FROM tasks WHERE queue = ? AND waiting_since IS NOT NULL',
    );
  }

  /** Whether a claim would get anything, as far as a look without a lock can tell. */
  anyFor(request: ClaimRequest, now: number): boolean {
    return this.#candidates({ ...request, limit: 1 }, now).length > 0;
  }

  claim(request: ClaimRequest, now: number): Lease[] {
    return this.#candidates(request, now).map(({ found, cause }) => {
      const { holder, ttlMs } = request;
      const before = toRow(found);
      const fence = cause === 'held' ? before.fence : before.fence + 1;
      const wanted = cause === 'held' && before.wanted;
      const after = { ...before, fence, holder, wanted, leaseUntil: now + ttlMs };
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
    return (this.#waiting.get(queue) as { tasks: number }).tasks;
  }

  #candidates(request: ClaimRequest, now: number) {
    const { queue, holder, limit, taskId } = request;
    const held = this.#held.all(holder, queue, limit) as unknown as TaskRow[];
    const free =
      taskId === undefined
        ? this.#free.all(queue, limit, queue, now, limit, limit)
        : this.#freeOne.all(taskId, queue, limit);
    const known = new Set(held.map(({ id }) => id));
    return [...held, ...(free as unknown as TaskRow[]).filter(({ id }) => !known.has(id))]
      .filter((found) => taskId === undefined || found.task_id === taskId)
      .flatMap((found) => {
        const cause = claimable(toRow(found), request, now);
        return cause === undefined ? [] : [{ found, cause }];
      })
      .slice(0, limit);
  }
}
