import { type Commit, type Committed, type Lease, type StoredFact, StoreError } from '@batonjs/store';
import type { Clock } from '../../base/timing/clock.ts';
import { boundedUntil } from '../../base/timing/within-deadline.ts';
import type { LiveTask } from '../live-task.ts';
import { isGone } from '../report-lost-facts.ts';

/** A commit that expects its log to have a certain length. */
export type VersionedCommit = Commit & { readonly expectedVersion: number };

/**
 * What became of a commit:
 * - committed, by this attempt or an earlier one,
 * - `overtaken`: another commit has its position, and was added to the live task,
 * - `repeated`: a commit with the same `once` is in the log already,
 * - `unknown`: the store does not say, or holds nothing at the position yet.
 */
export type Outcome = Committed | 'overtaken' | 'repeated' | 'unknown';

/** The outcome of a commit that the store answered with `repeated`. Rejects if the store cannot be read. */
export async function outcomeOfRepeated(
  live: LiveTask,
  commit: VersionedCommit,
  { version }: Committed,
): Promise<Committed | 'repeated'> {
  const [earlier] = await live.dependencies.store.readFacts(live.scope, live.taskId, version - 1, 1);
  return earlier?.commitId === commit.commitId ? earlierAttempt(live, commit) : 'repeated';
}

/**
 * The outcome of a commit that failed with `error`, read from the log: an answer may be lost after the commit was
 * stored. Rejects with `error` if the commit was refused for good, with `LOG_DELETED` if the task was deleted, and with
 * `FENCED` or `LOG_DIVERGED` if the store lost facts that the commit was decided on.
 */
export async function outcomeAfter(
  error: unknown,
  live: LiveTask,
  commit: VersionedCommit,
  deadline: number,
): Promise<Outcome> {
  if (!mayBeStored(error)) throw error;
  const isUnavailable = StoreError.is(error, 'UNAVAILABLE');
  const isFenced = StoreError.is(error, 'FENCED');
  const next = await readNext(live, commit, isUnavailable ? deadline : Number.POSITIVE_INFINITY);
  if (!next) return 'unknown';
  if (next[0]) {
    if (next[0].commitId === commit.commitId && commit.facts.length > 0) return earlierAttempt(live, commit);
    live.add(next);
    if (isFenced || StoreError.is(error, 'LOG_CLOSED')) throw error;
    return 'overtaken';
  }
  if (isUnavailable) return 'unknown';
  // A release takes the fence away: if its answer was lost, its repetition is refused.
  if (isFenced && commit.facts.length === 0) return { version: commit.expectedVersion };
  if (!StoreError.is(error, 'VERSION_CONFLICT')) throw error;
  await live.tryRefresh();
  if (live.isDiverged) throw live.readError;
  throw new StoreError('FENCED', `The store lost facts of task ${live.taskId}`, { cause: error });
}

const mayBeStored = (error: unknown): boolean =>
  StoreError.is(error, 'UNAVAILABLE') ||
  StoreError.is(error, 'VERSION_CONFLICT') ||
  StoreError.is(error, 'LOG_CLOSED') ||
  StoreError.is(error, 'FENCED');

/**
 * The facts from the position on that a commit expects; undefined if the store does not answer. Rejects with
 * `LOG_DELETED` or `LOG_DIVERGED` if those that the commit was decided on are gone.
 */
async function readNext(
  live: LiveTask,
  { expectedVersion }: VersionedCommit,
  deadline: number,
): Promise<readonly StoredFact[] | undefined> {
  const { scope, taskId, dependencies } = live;
  const { store, clock } = dependencies;
  if (clock.monotonic() >= deadline) return undefined;
  try {
    const last = expectedVersion === live.version ? live.commitIdAt(expectedVersion) : undefined;
    const read = () => store.readFacts(scope, taskId, expectedVersion, 256, last);
    return await boundedUntil(read, deadline, clock);
  } catch (error) {
    if (!isGone(error)) return undefined;
    await live.tryRefresh();
    throw error;
  }
}

async function earlierAttempt(live: LiveTask, commit: VersionedCommit): Promise<Committed> {
  return { version: commit.expectedVersion + commit.facts.length, lease: await regainLease(live, commit) };
}

/**
 * The lease of a commit whose answer was lost: the store gives it again to the holder that asked for it. Undefined if
 * another process had the task since, or the store does not answer: then the task is recovered like any other.
 */
async function regainLease(live: LiveTask, { turn, taskId }: Commit): Promise<Lease | undefined> {
  if (!turn?.acquire) return undefined;
  const { scope, dependencies } = live;
  const { store, clock } = dependencies;
  const { holder, ttlMs } = turn.acquire;
  const end = clock.monotonic() + ttlMs;
  for (;;) {
    try {
      const task = { scope, taskId };
      const [lease] = await store.claim({ queue: turn.queue, holder, ttlMs, limit: 1, task });
      return lease?.cause === 'held' ? lease : undefined;
    } catch (error) {
      if (!StoreError.is(error, 'UNAVAILABLE') || clock.monotonic() >= end) return undefined;
      await clock.sleep(backoffMs(clock));
    }
  }
}

/**
 * When a write that began at `since` is not tried again (monotonic milliseconds). All its attempts share this deadline. It
 * is earlier than the end of the longest store call, so that a store that used up its own time (4 s) is not asked twice.
 */
export const writeDeadline = (since: number, { dependencies }: LiveTask): number =>
  since + dependencies.timeouts.storeMs * 0.8;

/** How long to wait before the next attempt, in milliseconds. */
export const backoffMs = ({ random }: Clock): number => 20 + random() * 80;
