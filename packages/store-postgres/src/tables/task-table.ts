import { type StoredFact, stateOf, type TaskRow } from '@batonjs/store';
import type { DatabaseRow } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import { type Column, known, orNull } from './column.ts';

/** A row of `tasks` that is written, with the revision that it replaces. */
export interface WrittenTask {
  readonly key: string;
  readonly row: TaskRow;
  /** Undefined for a new row. */
  readonly replaced: number | undefined;
}

const keyOrNull = (...ids: readonly (string | undefined)[]): string | null =>
  ids.includes(undefined) ? null : keyOf(...(ids as string[]));

export const taskColumns: readonly Column<WrittenTask>[] = [
  ['key', 'text', ({ key }) => key],
  ['scope', 'text', ({ row }) => row.scope],
  ['task_id', 'text', ({ row }) => row.taskId],
  ['scope_key', 'text', ({ row }) => keyOf(row.scope)],
  ['context_key', 'text', ({ row }) => keyOrNull(row.scope, row.head?.contextId)],
  ['revision', 'float8', ({ row }) => row.revision],
  ['replaced', 'float8', ({ replaced }) => orNull(replaced)],
  ['version', 'bigint', ({ row }) => row.version],
  ['head', 'text', ({ row }) => orNull(row.head && JSON.stringify(row.head))],
  ['last_at', 'text', ({ row }) => row.lastAt],
  ['webhooks', 'float8', ({ row }) => row.webhooks],
  ['state', 'text', ({ row }) => (row.head ? stateOf(row) : null)],
  ['status_at', 'float8', ({ row }) => orNull(row.head && Date.parse(row.head.statusAt))],
  ['status_version', 'bigint', ({ row }) => orNull(row.head?.statusVersion)],
  ['queue', 'text', ({ row }) => orNull(row.queue)],
  ['queue_key', 'text', ({ row }) => keyOrNull(row.queue)],
  ['wanted', 'boolean', ({ row }) => row.wanted],
  ['fence', 'float8', ({ row }) => row.fence],
  ['holder', 'text', ({ row }) => orNull(row.holder)],
  ['holder_key', 'text', ({ row }) => keyOrNull(row.holder)],
  ['ahead_ms', 'float8', ({ row }) => orNull(row.aheadMs)],
  ['waiting_since', 'float8', ({ row }) => orNull(row.waitingSince)],
  ['due_at', 'float8', ({ row }) => orNull(row.dueAt)],
  ['lease_until', 'float8', ({ row }) => orNull(row.leaseUntil)],
  ['leased_at', 'float8', ({ row }) => orNull(row.leasedAt)],
  ['turn_at', 'float8', ({ row }) => orNull(row.turnAt)],
  ['ended_at', 'float8', ({ row }) => orNull(row.endedAt)],
];

/** The columns that `toTaskRow` reads. */
export const readTaskColumns = `key, scope, task_id, revision, version, head, last_at, webhooks, queue, wanted, fence, holder,
  ahead_ms, waiting_since, due_at, lease_until, leased_at, turn_at, ended_at`;

export const toTaskRow = (found: DatabaseRow): TaskRow => ({
  scope: String(found.scope),
  taskId: String(found.task_id),
  revision: Number(found.revision),
  version: Number(found.version),
  head: found.head === null ? undefined : JSON.parse(String(found.head)),
  lastAt: String(found.last_at),
  webhooks: Number(found.webhooks),
  queue: known(found.queue),
  wanted: found.wanted === true,
  fence: Number(found.fence),
  holder: known(found.holder),
  aheadMs: known(found.ahead_ms),
  waitingSince: known(found.waiting_since),
  dueAt: known(found.due_at),
  leaseUntil: known(found.lease_until),
  leasedAt: known(found.leased_at),
  turnAt: known(found.turn_at),
  endedAt: known(found.ended_at),
});

/** A fact as it is read. `parse`: turns its text into a fact, or throws. */
export const toStoredFact = (
  { version, commit_id, fact }: DatabaseRow,
  parse: (text: string, version: number) => StoredFact['fact'],
): StoredFact => ({
  version: Number(version),
  commitId: String(commit_id),
  fact: parse(String(fact), Number(version)),
});
