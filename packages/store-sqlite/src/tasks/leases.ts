import {
  type ClaimRequest,
  claimed,
  type Lease,
  type LeaseReading,
  leaseReading,
  type Scope,
  type TurnSchedule,
} from '@batonjs/store';
import type { Database } from '../sql/database.ts';
import { type Moment, type TaskRow, type TaskRows, taskColumns, toRow } from './task-row.ts';
import type { Turns } from './turns.ts';

/** Grants and renews leases. Methods that write are called inside the caller's transaction. */
export class Leases {
  readonly #rows: TaskRows;
  readonly #held;
  readonly #waiting;
  readonly #due;
  readonly #left;
  readonly #ofAnyScope;
  readonly #later;
  readonly #endLater;
  readonly #endAll;
  readonly #turns: Turns;

  constructor(db: Database, rows: TaskRows, turns: Turns) {
    this.#rows = rows;
    this.#turns = turns;
    const find = (condition: string) =>
      db.prepare(`SELECT ${taskColumns} FROM tasks WHERE ${condition} LIMIT ?`);
    this.#held = find('holder = ? AND queue = ?');
    this.#waiting = find('queue = ? AND waiting_since IS NOT NULL ORDER BY waiting_since');
    this.#due = find('queue = ? AND ready_at <= ? ORDER BY ready_at');
    this.#left = find('queue = ? AND lease_until <= ? ORDER BY lease_until');
    this.#ofAnyScope = find('task_id = ? AND queue = ?');
    this.#later = db.prepare('SELECT 1 FROM tasks WHERE holder IS NOT NULL AND leased_at > ? LIMIT 1');
    this.#endLater = db.prepare(
      'UPDATE tasks SET lease_until = 0, leased_at = 0 WHERE holder IS NOT NULL AND leased_at > ?',
    );
    this.#endAll = db.prepare(
      `UPDATE tasks SET lease_until = 0, leased_at = ? WHERE holder >= '' AND lease_until > 0`,
    );
  }

  /** Whether a claim would find a task. Reads without the write lock, so that the answer may be outdated at once. */
  anyFor(request: ClaimRequest, at: Moment): boolean {
    if (this.#candidates({ ...request, limit: 1 }, at).length > 0) return true;
    // The first may be one that its holder is about to renew.
    return request.isKept !== undefined && this.#candidates(request, at).length > 0;
  }

  claim(request: ClaimRequest, at: Moment): Lease[] {
    const { holder, queue } = request;
    const candidates = this.#candidates(request, at);
    const started = candidates.filter(({ found }) => found.holder === null && found.ahead_ms !== null);
    this.#turns.serve(
      queue,
      started.map(({ found }) => found.scope),
    );
    return candidates.map(({ found, row, cause }) => {
      this.#rows.update(found, row, found.context, at);
      return { scope: found.scope, taskId: found.task_id, queue, holder, fence: row.fence, cause };
    });
  }

  /** Extends the leases that are still held to `ttlMs` from now and returns them. */
  renew(leases: readonly Lease[], ttlMs: number, at: Moment): Lease[] {
    return leases.filter(({ scope, taskId, holder, fence }) => {
      const found = this.#rows.find(scope, taskId);
      if (found?.holder !== holder || found.fence !== fence) return false;
      this.#rows.update(found, { ...toRow(found), leaseUntil: at.leaseNow + ttlMs }, found.context, at);
      return true;
    });
  }

  /** Whether there is a lease that `endLeasesFromBeforeBoot` would end. */
  hasLeasesFromBeforeBoot({ leaseNow }: Moment): boolean {
    return this.#later.get(leaseNow) !== undefined;
  }

  /**
   * Ends the leases that were granted before the host was restarted: their holders are gone, and its clock began at 0.
   * Leases of a time that the clock has reached again run out as if they had been granted now.
   */
  endLeasesFromBeforeBoot({ leaseNow }: Moment): void {
    this.#endLater.run(leaseNow);
  }

  /**
   * Ends all leases, where no other process can have one. Their tasks come before those that wait. `leased_at` is when
   * they were ended.
   */
  endAll({ leaseNow }: Moment): void {
    this.#endAll.run(leaseNow);
  }

  read(scope: Scope, taskId: string): LeaseReading | undefined {
    const found = this.#rows.find(scope, taskId);
    return found && leaseReading(toRow(found));
  }

  /** Tasks that the holder has already come first, then those that have been ready longest. */
  #candidates(request: ClaimRequest, at: Moment) {
    const { now, leaseNow } = at;
    const { queue, holder, limit, taskId, scope, schedule } = request;
    const readyForMs = ({ waiting_since, ready_at, lease_until }: TaskRow): number =>
      lease_until === null ? now - (waiting_since ?? ready_at ?? 0) : leaseNow - lease_until;
    const held = asRows(this.#held.all(holder, queue, limit));
    const free =
      taskId !== undefined
        ? // Tasks of other scopes may have the same id, and not be free.
          this.#named(taskId, queue, scope)
        : schedule
          ? this.#scheduled(request, schedule, at)
          : asRows([
              ...this.#waiting.all(queue, limit),
              ...this.#due.all(queue, now, limit),
              ...this.#left.all(queue, leaseNow, limit),
            ]).sort((a, b) => readyForMs(b) - readyForMs(a) || a.id - b.id);
    const rows = new Map([...held, ...free].map((row) => [row.id, row]));
    return [...rows.values()]
      .flatMap((found) => {
        const isAskedFor =
          taskId === undefined ||
          (found.task_id === taskId && (scope === undefined || found.scope === scope));
        const claim = isAskedFor ? claimed(toRow(found), request, now, leaseNow) : undefined;
        return claim ? [{ found, ...claim }] : [];
      })
      .slice(0, limit);
  }

  /** Those whose lease ran out, then those that may get a turn. */
  #scheduled(request: ClaimRequest, schedule: TurnSchedule, at: Moment): TaskRow[] {
    const { queue, limit, isKept } = request;
    const left = asRows(this.#left.all(queue, at.leaseNow, -1));
    const taken = left.filter(({ holder }) => !isKept?.(holder!)).slice(0, limit);
    return [...taken, ...this.#turns.pick({ ...request, limit: limit - taken.length }, schedule, at)];
  }

  #named(taskId: string, queue: string, scope: Scope | undefined): TaskRow[] {
    if (scope === undefined) return asRows(this.#ofAnyScope.all(taskId, queue, -1));
    const row = this.#rows.find(scope, taskId);
    return row ? [row] : [];
  }
}

const asRows = (found: unknown[]) => found as TaskRow[];
