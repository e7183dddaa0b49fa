import type { Head } from '@batonjs/lifecycle';
import { StoreError } from './store-error.ts';
import type { ClaimRequest, Commit, Lease } from './task-store.ts';

/** What a store keeps per task besides the facts. */
export interface Row {
  /** The length of the log. */
  readonly version: number;
  readonly head: Head;
  readonly queue?: string;
  readonly wanted: boolean;
  /** The largest fence ever issued; 0 before the first. */
  readonly fence: number;
  /** Who holds the task; absent when nobody does. */
  readonly holder?: string;
  /** In milliseconds of the store's clock for leases: one that is never set, the same for all that share the store. */
  readonly leaseUntil?: number;
}

/**
 * Decides about a commit: the row before and the commit give the row after, or throw the `StoreError` the store rejects
 * with. Pure. A store calls this (or mirrors it, in Lua say) inside its transaction, after it found that `once` is new.
 * `leaseNow`: the time of the clock for leases.
 */
export function admit(row: Row | undefined, commit: Commit, leaseNow: number): Row {
  const { expectedVersion, facts, writer, turn } = commit;
  mustMakeSense(commit);
  const version = row?.version ?? 0;
  if (writer && (row?.fence !== writer.fence || row.holder !== writer.holder)) {
    throw new StoreError('FENCED', `${writer.holder} does not hold task ${commit.taskId} any more`);
  }
  if (row?.head.closed) throw new StoreError('LOG_CLOSED', `The log of task ${commit.taskId} is closed`);
  if (expectedVersion === 'open' ? !row : expectedVersion !== version) {
    throw new StoreError(
      'VERSION_CONFLICT',
      `The log of task ${commit.taskId} is at ${version}, not ${expectedVersion === 'open' ? 'there' : expectedVersion}`,
    );
  }
  const head = commit.head ?? row?.head;
  if (!head) throw new StoreError('INVALID_COMMIT', 'The first commit of a log needs a head');
  const after: Row = {
    version: version + facts.length,
    head,
    queue: turn?.queue ?? row?.queue,
    wanted: row?.wanted ?? false,
    fence: row?.fence ?? 0,
    holder: row?.holder,
    leaseUntil: row?.leaseUntil,
  };
  if (head.closed) return { ...after, wanted: false, holder: undefined, leaseUntil: undefined };
  if (turn?.release)
    return { ...after, wanted: turn.want === true, holder: undefined, leaseUntil: undefined };
  if (turn?.acquire && after.holder === undefined) {
    const { holder, ttlMs } = turn.acquire;
    return { ...after, wanted: false, fence: after.fence + 1, holder, leaseUntil: leaseNow + ttlMs };
  }
  return turn?.want ? { ...after, wanted: true } : after;
}

/**
 * Throws `QUEUE_FULL` if a commit that was admitted as `after` makes a task wait where as many wait as may. `waiting` counts
 * those of a queue, without this commit. A store calls this after `admit`, in the same transaction.
 */
export function mustHaveRoom(after: Row, { turn }: Commit, waiting: (queue: string) => number): void {
  if (turn?.waitingAtMost === undefined || !after.wanted || after.holder !== undefined) return;
  if (waiting(turn.queue) < turn.waitingAtMost) return;
  throw new StoreError('QUEUE_FULL', `${turn.waitingAtMost} tasks of ${turn.queue} wait for a turn already`);
}

/** The lease a commit was granted, if it asked for one: compare the row before and after. */
export function granted(after: Row, { scope, taskId, turn }: Commit): Lease | undefined {
  if (!turn?.acquire || after.holder !== turn.acquire.holder) return undefined;
  return {
    scope,
    taskId,
    queue: turn.queue,
    holder: turn.acquire.holder,
    fence: after.fence,
    cause: 'committed',
  };
}

/**
 * Decides about a claim: why this task may be claimed now, or undefined. `'held'` means that the token holds it already
 * and gets the same lease again. Pure. `now`: milliseconds since 1970; `leaseNow`: the time of the clock for leases, if it
 * is another one.
 */
export function claimable(
  row: Row,
  { holder, queue, isKept }: ClaimRequest,
  now: number,
  leaseNow: number = now,
): Exclude<Lease['cause'], 'committed'> | undefined {
  if (row.head.closed || row.queue !== queue) return undefined;
  if (row.holder === holder) return 'held';
  if (row.holder !== undefined)
    return (row.leaseUntil ?? 0) <= leaseNow && !isKept?.(row.holder) ? 'expired' : undefined;
  if (row.wanted) return 'wanted';
  return row.head.dueAt !== undefined && Date.parse(row.head.dueAt) <= now ? 'due' : undefined;
}

/** Throws `INVALID_COMMIT` for a commit that contradicts itself. `admit` asks this first; a store that mirrors it calls it. */
export function mustMakeSense({ expectedVersion, facts, head, snapshot, once, turn }: Commit): void {
  const wrong =
    expectedVersion === 'open'
      ? head || snapshot || turn?.acquire || turn?.release || !once || facts.length === 0
        ? 'an open append carries facts and `once`, and no head, snapshot, acquire or release'
        : undefined
      : facts.length === 0 && !turn?.release
        ? 'a commit without facts can only release'
        : (facts.length > 0 || head) && head?.version !== expectedVersion + facts.length
          ? 'the head is not the one after these facts'
          : turn?.acquire && turn.release
            ? 'a lease is taken or given back, not both'
            : undefined;
  if (wrong) throw new StoreError('INVALID_COMMIT', `Invalid commit: ${wrong}`);
}
