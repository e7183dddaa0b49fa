import type { Row } from '@batonjs/store';
import type { DatabaseRow, Session } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import { Raced } from '../database/postgres-error.ts';

/** A row of the table `tasks` as it was read, or as it is to be written. */
export interface TaskRow {
  readonly key: string;
  readonly scope: string;
  readonly taskId: string;
  /** Grows with every write of the row: the one that was read, and 0 for a new row. */
  readonly revision: number;
  readonly row: Row;
  /** The `at` of the last fact. */
  readonly lastAt: string;
  /** Since when it waits for a turn, in milliseconds of the database's clock. */
  readonly waitingSince: number | undefined;
  readonly hasPush: boolean;
}

/** The columns that `toTaskRow` reads. */
export const taskColumns =
  'key, scope, task_id, revision, version, head, last_at, queue, wanted, fence, holder, lease_until, waiting_since, has_push, ahead_ms';

export const toTaskRow = (found: DatabaseRow): TaskRow => ({
  key: String(found.key),
  scope: String(found.scope),
  taskId: String(found.task_id),
  revision: Number(found.revision),
  row: {
    version: Number(found.version),
    head: JSON.parse(String(found.head)),
    queue: (found.queue as string | null) ?? undefined,
    wanted: found.wanted === true,
    fence: Number(found.fence),
    holder: (found.holder as string | null) ?? undefined,
    leaseUntil: found.lease_until === null ? undefined : Number(found.lease_until),
    aheadMs: found.ahead_ms === null ? undefined : Number(found.ahead_ms),
  },
  lastAt: String(found.last_at),
  waitingSince: found.waiting_since === null ? undefined : Number(found.waiting_since),
  hasPush: found.has_push === true,
});

/** The state that a log is counted and listed under: empty while it is no task. */
export const stateOf = ({ head }: Row): string => head.state ?? '';

/** Whether the task waits for a turn. */
export const isWaiting = ({ wanted, holder, head, queue }: Row): boolean =>
  wanted && holder === undefined && !head.closed && queue !== undefined;

/** Since when the task waits: unchanged while it goes on waiting. */
export const waitingSinceOf = (row: Row, before: number | undefined, now: number): number | undefined =>
  isWaiting(row) ? (before ?? now) : undefined;

/** From when a claim may take the task: the time that claims go by, oldest first. */
function readyAtOf(
  { queue, head, holder, leaseUntil }: Row,
  waitingSince: number | undefined,
): number | null {
  if (queue === undefined || head.closed) return null;
  if (holder !== undefined) return leaseUntil ?? 0;
  return waitingSince ?? (head.dueAt === undefined ? null : Date.parse(head.dueAt));
}

/** When the task became ready, or becomes due, less `ahead_ms`. Null without a schedule, and while the task is neither. */
function turnAtOf(row: Row, waitingSince: number | undefined): number | null {
  if (row.aheadMs === undefined || row.holder !== undefined) return null;
  const readyAt = readyAtOf(row, waitingSince);
  return readyAt === null ? null : readyAt - row.aheadMs;
}

type Column = [name: string, type: string, value: (write: TaskRow) => unknown];

const fixed: readonly Column[] = [
  ['key', 'text', ({ key }) => key],
  ['scope', 'text', ({ scope }) => scope],
  ['task_id', 'text', ({ taskId }) => taskId],
  ['scope_key', 'text', ({ scope }) => keyOf(scope)],
];

const changing: readonly Column[] = [
  ['context_key', 'text', ({ scope, row }) => keyOf(scope, row.head.contextId)],
  ['version', 'bigint', ({ row }) => row.version],
  ['head', 'text', ({ row }) => JSON.stringify(row.head)],
  ['last_at', 'text', ({ lastAt }) => lastAt],
  ['state', 'text', ({ row }) => stateOf(row)],
  ['status_at', 'bigint', ({ row }) => Date.parse(row.head.statusAt)],
  ['status_version', 'bigint', ({ row }) => row.head.statusVersion],
  ['closed', 'boolean', ({ row }) => row.head.closed],
  ['queue', 'text', ({ row }) => row.queue ?? null],
  ['queue_key', 'text', ({ row }) => (row.queue === undefined ? null : keyOf(row.queue))],
  ['wanted', 'boolean', ({ row }) => row.wanted],
  ['fence', 'bigint', ({ row }) => row.fence],
  ['holder', 'text', ({ row }) => row.holder ?? null],
  ['holder_key', 'text', ({ row }) => (row.holder === undefined ? null : keyOf(row.holder))],
  ['lease_until', 'bigint', ({ row }) => row.leaseUntil ?? null],
  ['waiting_since', 'bigint', ({ waitingSince }) => waitingSince ?? null],
  ['ready_at', 'bigint', ({ row, waitingSince }) => readyAtOf(row, waitingSince)],
  ['ahead_ms', 'bigint', ({ row }) => row.aheadMs ?? null],
  ['turn_at', 'bigint', ({ row, waitingSince }) => turnAtOf(row, waitingSince)],
];

const namesOf = (columns: readonly Column[]) => columns.map(([name]) => name).join(', ');
const unnested = (columns: readonly Column[], first: number) =>
  `unnest(${columns.map(([, type], n) => `$${first + n}::${type}[]`).join(', ')})`;
const valuesOf = (columns: readonly Column[], writes: readonly TaskRow[]) =>
  columns.map(([, , value]) => writes.map(value));

const updated: readonly Column[] = [
  ['key', 'text', ({ key }) => key],
  ['revision', 'bigint', ({ revision }) => revision],
  ...changing,
];
const put: readonly Column[] = [
  ...fixed,
  ['revision', 'bigint', ({ revision }) => revision + 1],
  ['has_push', 'boolean', ({ hasPush }) => hasPush],
  ...changing,
];

/** A statement whose values begin at some number, and how many it has. */
export interface Part {
  readonly count: number;
  statement(first: number): string;
}

/** Reads, inserts and updates rows of the table `tasks`, many in one statement. */
export class TaskRows {
  readonly #schema: string;
  readonly #update: string;

  constructor(schema: string) {
    this.#schema = schema;
    this.#update = `UPDATE ${schema}.tasks AS t SET revision = t.revision + 1,
      ${changing.map(([name]) => `${name} = u.${name}`).join(', ')}
      FROM ${unnested(updated, 1)} AS u(${namesOf(updated)})
      WHERE t.key = u.key AND t.revision = u.revision RETURNING t.key`;
  }

  /**
   * The statement that locks the rows of these keys until the transaction ends; keys have no quotes. All transactions
   * lock in the order of the keys, so that they do not wait for each other in a circle.
   */
  locking(keys: readonly string[]): string {
    return `SELECT ${taskColumns} FROM ${this.#schema}.tasks WHERE key = ANY('{${keys}}'::text[])
      ORDER BY key FOR UPDATE`;
  }

  /**
   * Inserts new rows, updates those that have the revision that was read, and leaves out all others. Finds each on the
   * index by its conflict: the plan of a join, once kept, would go on reading the whole table as it grows.
   */
  get putting(): Part {
    return {
      count: put.length,
      statement: (first) => `INSERT INTO ${this.#schema}.tasks AS t (${namesOf(put)})
        SELECT * FROM ${unnested(put, first)}
        ON CONFLICT (key) DO UPDATE SET revision = excluded.revision,
        ${changing.map(([name]) => `${name} = excluded.${name}`).join(', ')}
        WHERE t.revision = excluded.revision - 1 RETURNING t.key`,
    };
  }

  valuesOf(writes: readonly TaskRow[]): unknown[][] {
    return valuesOf(put, writes);
  }

  /** Throws `Raced` if a row has another revision than the one that was read. */
  async update(session: Session, writes: readonly TaskRow[]): Promise<void> {
    if (writes.length === 0) return;
    const rows = await session.query(this.#update, valuesOf(updated, writes));
    if (rows.length !== writes.length) throw new Raced();
  }
}
