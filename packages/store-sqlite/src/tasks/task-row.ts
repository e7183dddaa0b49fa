import type { Row, Scope } from '@batonjs/store';
import type { Database } from '../sql/database.ts';

type Head = Row['head'];

/** A row of the table `tasks`. */
export interface TaskRow {
  readonly id: number;
  readonly scope: string;
  readonly task_id: string;
  readonly version: number;
  readonly head: string;
  readonly context: number;
  readonly state: string;
  readonly status_at: number;
  readonly queue: string | null;
  readonly wanted: number;
  readonly fence: number;
  readonly holder: string | null;
  /** Milliseconds of the clock for leases, as `leased_at`. */
  readonly lease_until: number | null;
  /** When the lease was granted, renewed, or ended by `endAll`. A time in the future: the host was restarted since. */
  readonly leased_at: number | null;
  readonly waiting_since: number | null;
  readonly ready_at: number | null;
  readonly has_push: number;
  /** How much longer than it has the task counts as having waited; null if no schedule orders it. */
  readonly ahead_ms: number | null;
  /** The order of a schedule: since when the task waits, or when it is due, less `ahead_ms`. */
  readonly turn_at: number | null;
}

/** The columns that `TaskRow` names. */
export const taskColumns =
  'id, scope, task_id, version, head, context, state, status_at, queue, wanted, fence, holder, lease_until, leased_at, waiting_since, ready_at, has_push, ahead_ms, turn_at';

/** The part of a row that commits and claims are decided on. */
export function toRow(row: TaskRow): Row {
  return {
    version: row.version,
    head: JSON.parse(row.head),
    queue: row.queue ?? undefined,
    wanted: row.wanted === 1,
    fence: row.fence,
    holder: row.holder ?? undefined,
    leaseUntil: row.lease_until ?? undefined,
    aheadMs: row.ahead_ms ?? undefined,
  };
}

/** The state in the indexes: empty while the log is no task. */
export const stateOf = (head: Head): string => head.state ?? '';

type ListColumns = [state: string, statusAt: number, closed: number, context: number];
type ClaimColumns = (string | number | null)[];

/** The columns that a task is listed by. */
export const listColumns = (head: Head, context: number): ListColumns => [
  stateOf(head),
  Date.parse(head.statusAt),
  head.closed ? 1 : 0,
  context,
];

/** The columns that a task is claimed by. `waitingSince`: when it began to wait; `leasedAt`: when it was leased. */
export function claimColumns(row: Row, waitingSince: number, leasedAt: number): ClaimColumns {
  const waiting = row.wanted && row.holder === undefined && !row.head.closed;
  return [
    row.queue ?? null,
    row.wanted ? 1 : 0,
    row.fence,
    row.holder ?? null,
    row.leaseUntil ?? null,
    row.leaseUntil === undefined ? null : leasedAt,
    waiting && row.queue !== undefined ? waitingSince : null,
    row.queue === undefined || waiting ? null : readyAt(row),
  ];
}

/** When a free task that wants no turn can be claimed: at its deadline. */
function readyAt({ head, holder }: Row): number | null {
  return head.closed || holder !== undefined || head.dueAt === undefined ? null : Date.parse(head.dueAt);
}

/** Since when the task waits, or when it is due, less `ahead_ms`. Null without a schedule, and while it is neither. */
function turnAt(row: Row, waitingSince: number): number | null {
  const { aheadMs, holder, queue, head, wanted } = row;
  if (aheadMs === undefined || holder !== undefined || queue === undefined || head.closed) return null;
  const at = wanted ? waitingSince : readyAt(row);
  return at === null ? null : at - aheadMs;
}

/** The moment of a write, on both clocks. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds of the clock for leases. */
  readonly leaseNow: number;
}

/** Reads and writes rows of the table `tasks`. */
export class TaskRows {
  readonly #find;
  readonly #insert;
  readonly #updates;
  readonly #order;
  readonly #waiting;

  constructor(db: Database) {
    this.#find = db.prepare(`SELECT ${taskColumns} FROM tasks WHERE task_id = ? AND scope = ?`);
    this.#insert = db.prepare(
      `INSERT INTO tasks (scope, task_id, has_push, version, head, ${listed}, ${claimed})
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    );
    this.#order = db.prepare('UPDATE tasks SET ahead_ms = ?, turn_at = ? WHERE id = ?');
    this.#waiting = db.prepare('SELECT tasks FROM waiting WHERE queue = ?');
    // Setting a column updates every index over it, even if the value stays the same.
    this.#updates = {
      neither: db.prepare('UPDATE tasks SET version = ?, head = ? WHERE id = ?'),
      list: db.prepare(`UPDATE tasks SET version = ?, head = ?, ${set(listed)} WHERE id = ?`),
      claim: db.prepare(`UPDATE tasks SET version = ?, head = ?, ${set(claimed)} WHERE id = ?`),
      both: db.prepare(
        `UPDATE tasks SET version = ?, head = ?, ${set(listed)}, ${set(claimed)} WHERE id = ?`,
      ),
    };
  }

  find(scope: Scope, taskId: string): TaskRow | undefined {
    return this.#find.get(taskId, scope) as unknown as TaskRow | undefined;
  }

  /** How many tasks of a queue wait for a turn. */
  waiting(queue: string): number {
    return (this.#waiting.get(queue) as { tasks: number } | undefined)?.tasks ?? 0;
  }

  /** Returns the id of the new row. */
  insert(scope: Scope, taskId: string, row: Row, context: number, hasPush: boolean, at: Moment): number {
    const { id } = this.#insert.get(
      scope,
      taskId,
      hasPush ? 1 : 0,
      row.version,
      JSON.stringify(row.head),
      ...listColumns(row.head, context),
      ...claimColumns(row, at.now, at.leaseNow),
    ) as { id: number };
    if (row.aheadMs !== undefined) this.#order.run(row.aheadMs, turnAt(row, at.now), id);
    return id;
  }

  update(before: TaskRow, row: Row, context: number, { now, leaseNow }: Moment): void {
    const list = listColumns(row.head, context);
    const isSameLease = row.leaseUntil === before.lease_until;
    const leasedAt = isSameLease ? (before.leased_at ?? leaseNow) : leaseNow;
    const claim = claimColumns(row, before.waiting_since ?? now, leasedAt);
    const head = JSON.stringify(row.head);
    const listedAnew = list[0] !== before.state || list[1] !== before.status_at || context !== before.context;
    if (claimedAnew(before, claim)) {
      if (listedAnew) this.#updates.both.run(row.version, head, ...list, ...claim, before.id);
      else this.#updates.claim.run(row.version, head, ...claim, before.id);
    } else if (listedAnew) this.#updates.list.run(row.version, head, ...list, before.id);
    else this.#updates.neither.run(row.version, head, before.id);
    if (row.aheadMs === undefined) return;
    const at = turnAt(row, before.waiting_since ?? now);
    if (row.aheadMs !== before.ahead_ms || at !== before.turn_at) this.#order.run(row.aheadMs, at, before.id);
  }
}

const listed = 'state, status_at, closed, context';
const claimed = 'queue, wanted, fence, holder, lease_until, leased_at, waiting_since, ready_at';
const set = (columns: string) => columns.replaceAll(/\w+/g, '$& = ?');

function claimedAnew(before: TaskRow, claim: ClaimColumns): boolean {
  const { queue, wanted, fence, holder, lease_until, leased_at, waiting_since, ready_at } = before;
  return [queue, wanted, fence, holder, lease_until, leased_at, waiting_since, ready_at].some(
    (value, n) => value !== claim[n],
  );
}
