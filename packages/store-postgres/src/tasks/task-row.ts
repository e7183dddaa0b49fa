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
  'key, scope, task_id, revision, version, head, last_at, queue, wanted, fence, holder, lease_until, waiting_since, has_push';

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

type Column = [name: string, type: string, value: (write: TaskRow) => unknown];

const fixed: readonly Column[] = [
  ['key', 'text', ({ key }) => key],
  ['scope', 'text', ({ scope }) => scope],
  ['task_id', 'text', ({ taskId }) => taskId],
  ['scope_key', 'text', ({ scope }) => keyOf(scope)],
  ['name_key', 'text', ({ taskId }) => keyOf(taskId)],
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
];

const namesOf = (columns: readonly Column[]) => columns.map(([name]) => name).join(', ');
const unnested = (columns: readonly Column[]) =>
  `unnest(${columns.map(([, type], n) => `$${n + 1}::${type}[]`).join(', ')})`;
const valuesOf = (columns: readonly Column[], writes: readonly TaskRow[]) =>
  columns.map(([, , value]) => writes.map(value));

const inserted = [...fixed, ...changing];
const updated: readonly Column[] = [
  ['key', 'text', ({ key }) => key],
  ['revision', 'bigint', ({ revision }) => revision],
  ...changing,
];

/** Reads, inserts and updates rows of the table `tasks`, many in one statement. */
export class TaskRows {
  readonly #lock: string;
  readonly #insert: string;
  readonly #update: string;

  constructor(schema: string) {
    // All transactions lock in the order of the keys, so that they do not wait for each other in a circle.
    this.#lock = `SELECT ${taskColumns} FROM ${schema}.tasks WHERE key = ANY($1::text[]) ORDER BY key FOR UPDATE`;
    this.#insert = `INSERT INTO ${schema}.tasks (${namesOf(inserted)}, revision, has_push)
      SELECT u.*, 1, EXISTS (SELECT 1 FROM ${schema}.push_configs AS p WHERE p.key = u.key)
      FROM ${unnested(inserted)} AS u(${namesOf(inserted)})
      ON CONFLICT (key) DO NOTHING RETURNING key, has_push`;
    this.#update = `UPDATE ${schema}.tasks AS t SET revision = t.revision + 1,
      ${changing.map(([name]) => `${name} = u.${name}`).join(', ')}
      FROM ${unnested(updated)} AS u(${namesOf(updated)})
      WHERE t.key = u.key AND t.revision = u.revision RETURNING t.key`;
  }

  /** The rows of these keys, locked until the transaction ends. */
  async lock(session: Session, keys: readonly string[]): Promise<TaskRow[]> {
    return (await session.query(this.#lock, [keys])).map(toTaskRow);
  }

  /** Returns the keys of those that have webhooks already. Throws `Raced` if another process inserted one. */
  async insert(session: Session, writes: readonly TaskRow[]): Promise<string[]> {
    if (writes.length === 0) return [];
    const rows = await session.query(this.#insert, valuesOf(inserted, writes));
    if (rows.length !== writes.length) throw new Raced();
    return rows.filter(({ has_push }) => has_push).map(({ key }) => String(key));
  }

  /** Throws `Raced` if a row has another revision than the one that was read. */
  async update(session: Session, writes: readonly TaskRow[]): Promise<void> {
    if (writes.length === 0) return;
    const rows = await session.query(this.#update, valuesOf(updated, writes));
    if (rows.length !== writes.length) throw new Raced();
  }
}
