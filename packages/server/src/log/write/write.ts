import type { Fact, Head, State } from '@batonjs/lifecycle';
import { type Commit, type Committed, type Lease, type StoredFact, StoreError } from '@batonjs/store';
import { boundedUntil } from '../../timing/within-deadline.ts';
import type { LiveTask } from '../live-task.ts';
import { readNext } from '../read-next.ts';
import { nextSnapshot } from '../snapshot-policy.ts';
import type { Decision } from './decision.ts';

export interface WriteOptions {
  readonly writer?: Lease;
  readonly turn?: Commit['turn'] | ((state: State) => Commit['turn']);
  readonly once?: string;
  /** When this task must be looked at if nobody holds it: milliseconds since 1970. */
  readonly dueAt?: (state: State) => number | undefined;
  /** Whether to stop trying while the store does not answer. */
  readonly giveUp?: () => boolean;
}

export interface Written {
  readonly facts: readonly StoredFact[];
  /** Position of the first fact. */
  readonly first: number;
  /** What they were decided on. */
  readonly before?: State;
  readonly lease?: Lease;
  /** Somebody wrote this `once` before; nothing was written, and `first` is where. */
  readonly repeated?: boolean;
}

/**
 * Decides on the task as it is known and commits, until nobody else came between. Resolves only when the facts are in
 * the store. After a failure whose outcome is unknown, the log is asked: an agent never goes on from a commit that may
 * or may not have happened. Rejects with what `decide` threw, or with a `StoreError`.
 */
export function write(
  live: LiveTask,
  decide: (state: State | undefined) => Decision,
  options: WriteOptions = {},
): Promise<Written> {
  live.writeStarts();
  const since = live.settings.clock.monotonic();
  try {
    const draft = draftOf(live, decide, options);
    if (!draft) {
      live.writeEnds();
      return Promise.resolve(nothingIn(live));
    }
    // Nearly always this is all; what it takes to insist costs each write several times as much.
    const attempt = live.settings.store.commit(draft.commit);
    const insisting = () => insist(live, decide, options, draft, attempt, since);
    return attempt.then((committed) => {
      if (committed.repeated) return insisting();
      const written = settle(live, draft, committed);
      live.writeEnds();
      return written;
    }, insisting);
  } catch (error) {
    live.writeEnds();
    return Promise.reject(error);
  }
}

/** A decision and how it is put to the store. */
interface Draft {
  readonly before: State | undefined;
  readonly decision: Decision;
  readonly commit: Commit & { readonly expectedVersion: number };
}

/** Undefined if there is nothing to write. */
function draftOf(
  live: LiveTask,
  decide: (state: State | undefined) => Decision,
  options: WriteOptions,
): Draft | undefined {
  const before = live.known;
  const decision = decide(before);
  const { facts, state } = decision;
  const turn = typeof options.turn === 'function' ? options.turn(state ?? live.state) : options.turn;
  if (facts.length === 0 && !turn?.release) return undefined;
  return { before, decision, commit: toCommit(live, decision, options, turn) };
}

const nothingIn = (live: LiveTask): Written => ({ facts: [], first: live.version, before: live.known });

/** Takes in what is in the store now. */
function settle(
  live: LiveTask,
  { before, decision: { facts, state }, commit }: Draft,
  { version, lease }: Committed,
): Written {
  const first = version - facts.length + 1;
  const { commitId, snapshot, head } = commit;
  const stored = facts.map((fact, i): StoredFact => ({ version: first + i, commitId, fact }));
  live.add(stored, state, snapshot, head);
  return { facts: stored, first, before, lease };
}

/** Goes on after an attempt that did not simply succeed. */
async function insist(
  live: LiveTask,
  decide: (state: State | undefined) => Decision,
  options: WriteOptions,
  draft: Draft,
  attempt: Promise<Committed>,
  since: number,
): Promise<Written> {
  const { giveUp = never } = options;
  const until = giveUp === never ? deadlineAfter(since, live) : Number.POSITIVE_INFINITY;
  try {
    let next: Draft | undefined = draft;
    let pending: Promise<Committed> | undefined = attempt;
    while (next) {
      const sent: Sent = await send(live, next.commit, giveUp, until, pending);
      if (sent === 'repeated') return { facts: [], first: 1, repeated: true };
      if (sent !== 'overtaken') return settle(live, next, sent);
      pending = undefined;
      next = draftOf(live, decide, options);
    }
    return nothingIn(live);
  } finally {
    live.writeEnds();
  }
}

/**
 * Appends facts wherever the log ends, so that they never lose a race against a busy writer. `once` makes sure that it
 * happens one time only.
 */
export async function appendOpenly(
  live: LiveTask,
  facts: readonly Fact[],
  once: string,
  turn: Commit['turn'],
): Promise<Written> {
  const { scope, taskId, settings } = live;
  const { store, clock } = settings;
  const until = deadlineAfter(clock.monotonic(), live);
  const commit: Commit = {
    scope,
    taskId,
    commitId: live.nextCommitId(),
    expectedVersion: 'open',
    facts,
    once,
    turn,
  };
  for (let attempt = store.commit(commit); ; ) {
    try {
      const { version, repeated } = await attempt;
      const first = repeated ? version : version - facts.length + 1;
      const [stored] = repeated ? await store.readFacts(scope, taskId, first - 1, 1) : [];
      await live.look();
      return { facts: [], first, repeated: repeated && stored?.commitId !== commit.commitId };
    } catch (error) {
      const waitMs = backOff(clock.random);
      if (!StoreError.is(error, 'UNAVAILABLE') || clock.monotonic() + waitMs >= until) throw error;
      await clock.sleep(waitMs);
      attempt = boundedUntil(() => store.commit(commit), until, clock);
    }
  }
}

/**
 * When a write that failed is not tried again: all its attempts together share one deadline. It is earlier than the end
 * of the longest store call, so that a store that used its own time up (4 s) is not asked a second time.
 */
const deadlineAfter = (since: number, { settings }: LiveTask): number =>
  since + settings.storeTimeoutMs * 0.8;

function toCommit(
  live: LiveTask,
  { facts, state }: Decision,
  { writer, once, dueAt }: WriteOptions,
  turn: Commit['turn'],
): Draft['commit'] {
  const { scope, taskId, version } = live;
  return {
    scope,
    taskId,
    commitId: live.nextCommitId(),
    expectedVersion: version,
    facts,
    head: facts.length > 0 ? withClock(live.headAfter(facts), state && dueAt?.(state)) : undefined,
    snapshot: state && nextSnapshot(live, live.snapshot, state),
    writer,
    turn,
    once,
  };
}

function withClock(head: Head | undefined, due: number | undefined): Head | undefined {
  if (!head || (due === undefined && head.dueAt === undefined)) return head;
  return { ...head, dueAt: due === undefined ? undefined : new Date(due).toISOString() };
}

type Sent = Committed | 'overtaken' | 'repeated';

/** `pending`: the first attempt, if it was made already. */
async function send(
  live: LiveTask,
  commit: Draft['commit'],
  giveUp: () => boolean,
  until: number,
  pending?: Promise<Committed>,
): Promise<Sent> {
  const { store, clock } = live.settings;
  const expected = commit.expectedVersion;
  for (;;) {
    try {
      const attempt = pending ?? boundedUntil(() => store.commit(commit), until, clock);
      pending = undefined;
      const committed = await attempt;
      if (!committed.repeated) return committed;
      const [earlier] = await store.readFacts(live.scope, live.taskId, committed.version - 1, 1);
      if (earlier?.commitId !== commit.commitId) return 'repeated';
      return { version: expected + commit.facts.length, lease: await regainLease(live, commit) };
    } catch (error) {
      if (!isAmbiguous(error)) throw error;
      const isUnknown = StoreError.is(error, 'UNAVAILABLE');
      const next = await readNext(live, expected, isUnknown ? until : Number.POSITIVE_INFINITY);
      if (next?.[0]?.commitId === commit.commitId && commit.facts.length > 0) {
        return { version: expected + commit.facts.length, lease: await regainLease(live, commit) };
      }
      if (next?.[0]) {
        if (StoreError.is(error, 'FENCED') || StoreError.is(error, 'LOG_CLOSED')) {
          live.add(next);
          throw error;
        }
        live.add(next);
        return 'overtaken';
      }
      if (next && !isUnknown) {
        // A release whose answer was lost is fenced by itself.
        if (commit.facts.length === 0 && StoreError.is(error, 'FENCED')) return { version: expected };
        if (!StoreError.is(error, 'VERSION_CONFLICT')) throw error;
        throw new StoreError('FENCED', `The store lost facts of task ${live.taskId}`, { cause: error });
      }
      const waitMs = backOff(clock.random);
      if (giveUp() || clock.monotonic() + waitMs >= until) throw error;
      await clock.sleep(waitMs);
    }
  }
}

/**
 * The lease of a commit whose answer was lost: the token that asked for it is handed it again. Nothing if somebody else
 * had the task since, or the store does not say: then the task is recovered like any other.
 */
async function regainLease(live: LiveTask, { turn, taskId }: Commit): Promise<Lease | undefined> {
  if (!turn?.acquire) return undefined;
  const { store, clock } = live.settings;
  const { holder, ttlMs } = turn.acquire;
  const until = clock.monotonic() + ttlMs;
  for (;;) {
    try {
      const [lease] = await store.claim({ queue: turn.queue, holder, ttlMs, limit: 1, taskId });
      return lease?.cause === 'held' ? lease : undefined;
    } catch (error) {
      if (!StoreError.is(error, 'UNAVAILABLE') || clock.monotonic() >= until) return undefined;
      await clock.sleep(backOff(clock.random));
    }
  }
}

const isAmbiguous = (error: unknown): boolean =>
  StoreError.is(error, 'UNAVAILABLE') ||
  StoreError.is(error, 'VERSION_CONFLICT') ||
  StoreError.is(error, 'LOG_CLOSED') ||
  StoreError.is(error, 'FENCED');

const never = (): boolean => false;

const backOff = (random: () => number): number => 20 + random() * 80;
