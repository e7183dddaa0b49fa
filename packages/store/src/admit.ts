import type { Head } from '@batonjs/lifecycle';
import { StoreError } from './store-error.ts';
import type { ClaimRequest, Commit, Lease, LeaseReading } from './task-store.ts';

/** The part of a task that commits and claims are decided on. */
export interface Row {
  /** The length of the log. */
  readonly version: number;
  readonly head: Head;
  readonly queue?: string;
  readonly wanted: boolean;
  /** The largest fence ever issued for the task; 0 before the first. */
  readonly fence: number;
  /** The token that holds the lease; absent while the task is free. */
  readonly holder?: string;
  /** How much longer than it has the task counts as having waited; absent if no schedule orders it. */
  readonly aheadMs?: number;
  /** In milliseconds of the store's clock for leases: one that is never set, the same for all that share the store. */
  readonly leaseUntil?: number;
}

/**
 * Decides about a commit: the row before and the commit give the row after. Throws the `StoreError` that the store
 * rejects with. Pure. A store calls it, or mirrors it in its own language, inside the transaction, after it found that
 * `once` is new. `leaseNow`: the time of the clock for leases.
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
      expectedVersion === 'open'
        ? `Task ${commit.taskId} has no log to append to`
        : `The log of task ${commit.taskId} is at ${version}, not ${expectedVersion}`,
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
    aheadMs: turn?.aheadMs === undefined ? row?.aheadMs : aheadAfter(row, turn.aheadMs),
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

/** A task that waits becomes more urgent, and never less. */
function aheadAfter(row: Row | undefined, aheadMs: number): number {
  const isWaiting = row?.wanted && row.holder === undefined;
  return isWaiting && row.aheadMs !== undefined ? Math.max(row.aheadMs, aheadMs) : aheadMs;
}

/**
 * Throws `QUEUE_FULL` if a commit that was admitted as `after` adds a waiting task to a queue that has `waitingAtMost`
 * of them. `waiting` counts the waiting tasks of a queue, without this commit. A store calls it after `admit`, in the
 * same transaction.
 */
export function mustHaveRoom(after: Row, { turn }: Commit, waiting: (queue: string) => number): void {
  if (turn?.waitingAtMost === undefined || !after.wanted || after.holder !== undefined) return;
  if (waiting(turn.queue) < turn.waitingAtMost) return;
  throw new StoreError(
    'QUEUE_FULL',
    `${turn.waitingAtMost} tasks of queue ${turn.queue} are waiting for a turn already`,
  );
}

/** The lease that the commit acquired, or undefined. `after` is what `admit` returned. */
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

/** The reading of a row's lease. */
export const leaseReading = ({
  fence,
  holder,
  wanted,
}: Pick<Row, 'fence' | 'holder' | 'wanted'>): LeaseReading => ({
  fence,
  ...(holder !== undefined && { holder }),
  isWanted: wanted,
});

/** What a claim makes of a row that it may take. */
export interface Claimed {
  /** The row afterwards: the claim's holder has the lease for `ttlMs` milliseconds from now. */
  readonly row: Row;
  readonly cause: Exclude<Lease['cause'], 'committed'>;
}

/**
 * Decides about a claim: the row before and the request give the row after, or undefined if the claim cannot have the
 * task. A holder that has the lease already keeps its fence, and only the end of the lease moves. Pure. The caller
 * compares `request.taskId` and `request.scope`, which a row does not know. `now`: milliseconds since 1970; `leaseNow`: the time of the
 * clock for leases, if that is another one.
 */
export function claimed(
  row: Row,
  { holder, queue, ttlMs, isKept }: ClaimRequest,
  now: number,
  leaseNow: number = now,
): Claimed | undefined {
  if (row.head.closed || row.queue !== queue) return undefined;
  const leaseUntil = leaseNow + ttlMs;
  if (row.holder === holder) return { row: { ...row, leaseUntil }, cause: 'held' };
  const cause = row.holder === undefined ? causeOfFree(row, now) : causeOfHeld(row, leaseNow, isKept);
  if (!cause) return undefined;
  return { row: { ...row, wanted: false, fence: row.fence + 1, holder, leaseUntil }, cause };
}

function causeOfFree({ wanted, head: { dueAt } }: Row, now: number): 'wanted' | 'due' | undefined {
  if (wanted) return 'wanted';
  return dueAt !== undefined && Date.parse(dueAt) <= now ? 'due' : undefined;
}

function causeOfHeld(
  { holder, leaseUntil = 0 }: Row,
  leaseNow: number,
  isKept: ClaimRequest['isKept'],
): 'expired' | undefined {
  return leaseUntil <= leaseNow && !isKept?.(holder!) ? 'expired' : undefined;
}

/**
 * Throws `INVALID_COMMIT` for a commit that contradicts itself. `admit` begins with it; an adapter that mirrors
 * `admit` calls it.
 */
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
            ? 'a lease is acquired or released, not both'
            : undefined;
  if (wrong) throw new StoreError('INVALID_COMMIT', `Invalid commit: ${wrong}`);
}
