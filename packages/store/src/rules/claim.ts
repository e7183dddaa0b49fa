import type { ClaimRequest, Lease, TaskName } from '../port/lease.ts';
import type { TaskRow } from '../port/rows.ts';
import { topicNumber } from '../port/task-store.ts';
import { type Change, type Found, foundOf, type Step, type TaskWrite, type Wanted } from './change.ts';
import type { Moment } from './moment.ts';
import { pinnedQueue, placed, plainQueue, versionIn } from './task-row.ts';

/** What a claim makes of a row that it may take, and why. */
export interface Claimed {
  readonly before: TaskRow;
  readonly after: TaskRow;
  readonly cause: Exclude<Lease['cause'], 'committed'>;
}

/** The decision about a claim without a schedule. */
export function claimStep(request: ClaimRequest): Step<readonly Lease[], never> {
  const { queue, holder, limit, task } = request;
  const wanted = task
    ? { tasks: [{ scope: task.scope, taskId: task.taskId }] }
    : { held: { queue, holder, limit }, ready: readyFor(request) };
  return {
    wanted,
    isMostlyIdle: true,
    decide: (found) => {
      const rows = task ? rowsOf(found) : [...foundOf(found, 'held'), ...longestReady(found)];
      return leases(request, claimedAmong(rows, request, found));
    },
  };
}

/** How many more leases are looked at that seem to be over, where the caller may say that their holders keep them. */
const mostKept = 256;

/** What a claim wants of those that are ready. */
export const readyFor = ({ queue, limit, isKept }: ClaimRequest): NonNullable<Wanted['ready']> => ({
  queue,
  limit,
  left: isKept ? limit + mostKept : limit,
});

/** The rows that the claim may take, in order, each once. */
export function claimedAmong(
  rows: readonly TaskRow[],
  request: ClaimRequest,
  moment: Moment,
  limit: number = request.limit,
): Claimed[] {
  const claims: Claimed[] = [];
  const seen = new Set<string>();
  for (const row of rows) {
    if (claims.length >= limit) break;
    const name = nameOf(row);
    const claim = seen.has(name) ? undefined : claimed(row, request, moment);
    seen.add(name);
    if (claim) claims.push(claim);
  }
  return claims;
}

/** The change that gives out leases, in this order. */
export function leases(
  { queue, holder }: ClaimRequest,
  claims: readonly Claimed[],
): Change<readonly Lease[], never> {
  if (claims.length === 0) return { result: [] };
  const leasesOf = (granted: readonly Claimed[]): Lease[] =>
    granted.map(({ after: { scope, taskId, fence }, cause }) => ({
      ...{ scope, taskId, queue, holder, fence, cause },
    }));
  return {
    result: leasesOf(claims),
    tasks: claims,
    mayBeLost: true,
    partly: (written) => leasesOf(claims.filter((claim) => written.includes(claim))),
  };
}

/** Of several kinds together, those that could have been claimed longest come first. */
function longestReady(found: Found): TaskRow[] {
  const { now, orderNow, leaseNow } = found;
  const { waiting, due, left } = foundOf(found, 'ready');
  const forMs = ({ waitingSince, dueAt = now, leaseUntil }: TaskRow): number => {
    if (leaseUntil !== undefined) return leaseNow - leaseUntil;
    return waitingSince === undefined ? now - dueAt : orderNow - waitingSince;
  };
  return [...waiting, ...due, ...left].sort((a, b) => forMs(b) - forMs(a));
}

const rowsOf = (found: Found): TaskRow[] => foundOf(found, 'tasks').flatMap(({ row }) => (row ? [row] : []));

/** A name as a key of maps: no id contains NUL. */
export const nameOf = ({ scope, taskId }: TaskName): string => `${taskId}\0${scope}`;

/**
 * What a claim makes of a row, or undefined if it cannot have the task. A holder that has the lease already keeps its
 * fence, and only the end of the lease moves. Pure.
 */
export function claimed(before: TaskRow, request: ClaimRequest, moment: Moment): Claimed | undefined {
  const { holder, ttlMs, isKept } = request;
  if (!before.head || before.head.closed || !isOf(before, request)) return undefined;
  if (before.holder === holder) return { before, after: leased(before, ttlMs, moment), cause: 'held' };
  const cause =
    before.holder === undefined
      ? causeOfFree(before, request, moment)
      : causeOfHeld(before.holder, before, moment, isKept);
  if (!cause) return undefined;
  const { fence } = before;
  const after = leased({ ...before, wanted: false, fence: fence + 1, holder }, ttlMs, moment);
  // No other claim makes this revision: where a crash undid this one, a write that follows it is refused.
  return {
    before,
    after: { ...after, revision: after.revision + (topicNumber({ queue: holder }) >>> 8) },
    cause,
  };
}

/** Whether the claim is for the queue of the row, and for the version that its turn is pinned to. */
function isOf(
  { queue: known, holder: by }: TaskRow,
  { queue, holder, task, versions, anyVersion }: ClaimRequest,
): boolean {
  if (known === queue) return true;
  if (known === undefined || !task || plainQueue(known) !== queue) return false;
  return anyVersion === true || by === holder || (versions?.includes(versionIn(known) ?? '') ?? false);
}

/** The row of a task whose lease lasts for `ttlMs` from now. */
const leased = (row: TaskRow, ttlMs: number, moment: Moment): TaskRow =>
  placed(row, { ...row, leaseUntil: moment.leaseNow + ttlMs, leasedAt: moment.leaseNow }, true, moment);

function causeOfFree(
  { wanted, dueAt }: TaskRow,
  { task, dueAt: hasCome }: ClaimRequest,
  { now }: Moment,
): 'wanted' | 'due' | undefined {
  if (wanted) return 'wanted';
  const isDue = dueAt !== undefined && (dueAt <= now || (task !== undefined && dueAt === hasCome));
  return isDue ? 'due' : undefined;
}

const causeOfHeld = (
  holder: string,
  { leaseUntil = 0 }: TaskRow,
  { leaseNow }: Moment,
  isKept: ClaimRequest['isKept'],
): 'expired' | undefined => (leaseUntil <= leaseNow && !isKept?.(holder) ? 'expired' : undefined);

/** The decision about a renewal: the leases that are still held last for `ttlMs` from now. */
export function renewStep(held: readonly Lease[], ttlMs: number): Step<readonly Lease[], never> {
  const names = new Map(held.map((lease) => [nameOf(lease), lease]));
  const tasks = Array.from(names.values(), ({ scope, taskId }) => ({ scope, taskId }));
  return {
    wanted: { tasks },
    decide: (found) => {
      const rows = new Map(rowsOf(found).map((row) => [nameOf(row), row]));
      const writes = new Map<string, TaskWrite<never>>();
      const kept: Lease[] = [];
      for (const lease of held) {
        const before = rows.get(nameOf(lease));
        if (before?.fence !== lease.fence || before.holder !== lease.holder) continue;
        kept.push(lease);
        writes.set(nameOf(lease), { before, after: leased(before, ttlMs, found) });
      }
      if (writes.size === 0) return { result: [] };
      return {
        result: kept,
        tasks: [...writes.values()],
        partly: (written) =>
          kept.filter((lease) => {
            const write = writes.get(nameOf(lease));
            return write !== undefined && written.includes(write);
          }),
      };
    },
  };
}

/** The tasks that a claim with the version could get. */
export const pinnedWanted = (queue: string, version: string, limit: number): Wanted => ({
  ready: { queue: pinnedQueue(queue, version), limit, left: limit },
});

/** What was found of them, each once. */
export const pinnedIn = (found: Found, limit: number): readonly TaskRow[] => {
  const { waiting, due, left } = foundOf(found, 'ready');
  return [...waiting, ...due, ...left].slice(0, limit);
};

export const namesOf = (rows: readonly TaskRow[]): TaskName[] =>
  rows.map(({ scope, taskId }) => ({ scope, taskId }));

/** The decision to let claims without the version have up to `limit` of its tasks; resolves to how many. */
export const unpinStep = (queue: string, version: string, limit: number): Step<number, never> => ({
  wanted: pinnedWanted(queue, version, limit),
  decide: (found) => {
    const rows = pinnedIn(found, limit);
    if (rows.length === 0) return { result: 0 };
    const tasks = rows.map((before) => ({
      before,
      after: placed(before, { ...before, queue }, true, found),
    }));
    return { result: rows.length, tasks, notify: [{ queue }] };
  },
});
