import type { Row } from '@batonjs/store';
import type { KeyValue } from '../wire/messages.ts';

/** The value of `log/<task>`: what each commit changes. */
interface LogValue {
  readonly scope: string;
  readonly taskId: string;
  readonly version: number;
  readonly head: Row['head'];
  /** The `at` of the last fact. */
  readonly lastAt: string;
  /** The version of the stored snapshot. */
  readonly snapshot?: number;
  /** Where its parts are, if it is kept in parts. */
  readonly snapshotParts?: string;
}

/** The value of `turn/<task>`: what claims are decided on. A claim need not compare what other commits change. */
interface TurnValue {
  readonly queue?: string;
  readonly wanted: boolean;
  readonly fence: number;
  readonly holder?: string;
  readonly leaseUntil?: number;
  /** Since when it waits for a turn, in milliseconds of the wall clock. */
  readonly since?: number;
  readonly dueAt?: string;
  readonly closed: boolean;
  /** The commit that wrote it last, if a commit did. */
  readonly commitId?: string;
}

/** A task as it was read, with the revisions that a write compares; 0 where there is no such key. */
export interface TaskRow {
  readonly scope: string;
  readonly taskId: string;
  readonly row: Row;
  readonly lastAt: string;
  readonly snapshot?: number;
  readonly snapshotParts?: string;
  readonly since?: number;
  readonly commitId?: string;
  readonly logRevision: number;
  readonly turnRevision: number;
}

/** The row of the two keys of a task, or undefined if it does not exist. */
export function taskRowOf(log: KeyValue | undefined, turn: KeyValue | undefined): TaskRow | undefined {
  if (!log || !turn) return undefined;
  const { scope, taskId, version, head, lastAt, snapshot, snapshotParts }: LogValue = JSON.parse(
    String(log.value),
  );
  const { queue, wanted, fence, holder, leaseUntil, since, commitId }: TurnValue = JSON.parse(
    String(turn.value),
  );
  return {
    scope,
    taskId,
    row: { version, head, queue, wanted, fence, holder, leaseUntil },
    lastAt,
    snapshot,
    snapshotParts,
    since,
    commitId,
    logRevision: log.modRevision,
    turnRevision: turn.modRevision,
  };
}

export function logValue({ scope, taskId, row, lastAt, snapshot, snapshotParts }: TaskRow): string {
  const { version, head } = row;
  return JSON.stringify({
    scope,
    taskId,
    version,
    head,
    lastAt,
    snapshot,
    snapshotParts,
  } satisfies LogValue);
}

export function turnValue({ row, since, commitId }: TaskRow): string {
  const { queue, wanted, fence, holder, leaseUntil, head } = row;
  const { closed, dueAt } = head;
  return JSON.stringify({
    queue,
    wanted,
    fence,
    holder,
    leaseUntil,
    since,
    dueAt,
    closed,
    commitId,
  } satisfies TurnValue);
}

/** Whether the key `turn/<task>` says the same about both. */
export const isSameTurn = (a: TaskRow, b: TaskRow): boolean =>
  a.row.queue === b.row.queue &&
  a.row.wanted === b.row.wanted &&
  a.row.fence === b.row.fence &&
  a.row.holder === b.row.holder &&
  a.row.leaseUntil === b.row.leaseUntil &&
  a.row.head.dueAt === b.row.head.dueAt &&
  a.row.head.closed === b.row.head.closed;

/** Whether the task waits for a turn. */
export const isWaiting = ({ wanted, holder, head, queue }: Row): boolean =>
  wanted && holder === undefined && !head.closed && queue !== undefined;

/** Since when the task waits: unchanged while it goes on waiting. */
export const sinceOf = (row: Row, before: number | undefined, now: number): number | undefined =>
  isWaiting(row) ? (before ?? now) : undefined;
