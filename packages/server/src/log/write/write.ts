import type { Fact, Head, State } from '@batonjs/lifecycle';
import { textOfFirst } from '@batonjs/lifecycle/internals';
import {
  type Answer,
  type Commit,
  type Committed,
  isPending,
  type Lease,
  type StoredFact,
  StoreError,
} from '@batonjs/store';
import { boundedUntil } from '../../base/timing/within-deadline.ts';
import type { LiveTask } from '../live-task.ts';
import { nextSnapshot } from '../snapshot-policy.ts';
import type { Decision } from './decision.ts';
import {
  backoffMs,
  type Outcome,
  outcomeAfter,
  outcomeOfRepeated,
  type VersionedCommit,
  writeDeadline,
} from './outcome.ts';

export interface WriteOptions {
  /** The lease whose fence the commit carries. */
  readonly writer?: Lease;
  readonly turn?: Commit['turn'] | ((state: State) => Commit['turn']);
  readonly once?: string;
  /** See `Commit.unlessDeleted`. */
  readonly unlessDeleted?: boolean;
  /** When this task becomes due for a claim if no process holds it: milliseconds since 1970. */
  readonly dueAt?: (state: State) => number | undefined;
  /** Whether to stop trying while the store does not answer. Without it, a write is tried for 0.8 × `timeouts.storeMs`. */
  readonly giveUp?: () => boolean;
}

export interface Written {
  readonly facts: readonly StoredFact[];
  /** Position of the first fact. */
  readonly first: number;
  /** The state that they were decided on. */
  readonly before?: State;
  readonly lease?: Lease;
  /** When the commit was sent, or sent first, on the monotonic clock. Undefined if nothing was written. */
  readonly sentAt?: number;
  /** Another write had the same `once`: nothing was written. */
  readonly repeated?: boolean;
}

/**
 * Decides on the known state of the task and commits. If another commit came between, decides again on the state after
 * that. Answers only when the facts are in the store: at once if the store does. After a failure whose outcome is
 * unknown, reads the log: an agent never goes on from a commit that may or may not have happened. Rejects with the
 * error of `decide`, or with a `StoreError`.
 */
export function write(
  live: LiveTask,
  decide: (state: State | undefined) => Decision,
  options: WriteOptions = {},
): Answer<Written> {
  const { store, clock } = live.dependencies;
  try {
    const since = clock.monotonic();
    const draft = draftOf(live, decide, options);
    if (!draft) return nothingWritten(live);
    live.writeStarts();
    // The first attempt usually succeeds, and is bounded by the time limit of a store call: it needs no deadline.
    const attempt = store.commit(draft.commit);
    const goOn = () =>
      persist(live, decide, options, { draft, attempt, since }).finally(() => live.writeEnds());
    const add = (committed: Committed) => {
      if (committed.repeated) return goOn();
      try {
        return addWritten(live, draft, committed, since);
      } finally {
        live.writeEnds();
      }
    };
    return isPending(attempt) ? attempt.then(add, goOn) : add(attempt);
  } catch (error) {
    return Promise.reject(error);
  }
}

const nothingWritten = (live: LiveTask): Written => ({ facts: [], first: live.version, before: live.known });

/** A write whose first attempt is made. */
interface Begun {
  readonly draft: Draft;
  readonly attempt: Answer<Committed>;
  /** When the write began, on the monotonic clock. */
  readonly since: number;
}

/**
 * The rest of a write whose first attempt was repeated or failed. Apart from `write`: an async function with many
 * locals costs several times as much at each call.
 */
async function persist(
  live: LiveTask,
  decide: (state: State | undefined) => Decision,
  options: WriteOptions,
  begun: Begun,
): Promise<Written> {
  const { clock } = live.dependencies;
  const deadline = options.giveUp ? Number.POSITIVE_INFINITY : writeDeadline(begun.since, live);
  let draft: Draft | undefined = begun.draft;
  let { attempt } = begun;
  for (;;) {
    let outcome: Outcome;
    try {
      outcome = await attempt;
      if (outcome.repeated) outcome = await outcomeOfRepeated(live, draft.commit, outcome);
    } catch (error) {
      // A server that closes does not wait for another answer, nor does a process whose lease is gone.
      if (StoreError.is(error, 'UNAVAILABLE') && options.giveUp?.()) throw error;
      outcome = await outcomeAfter(error, live, draft.commit, deadline);
      if (outcome === 'unknown') {
        const waitMs = backoffMs(clock);
        if (options.giveUp?.() || clock.monotonic() + waitMs >= deadline) throw error;
        await clock.sleep(waitMs);
      }
    }
    if (outcome === 'repeated') return { facts: [], first: 1, repeated: true };
    if (typeof outcome === 'object') return addWritten(live, draft, outcome, begun.since);
    if (outcome === 'overtaken') draft = draftOf(live, decide, options);
    if (!draft) return nothingWritten(live);
    attempt = commitUntil(live, draft.commit, deadline);
  }
}

/** A decision and its commit. */
interface Draft {
  readonly before: State | undefined;
  readonly decision: Decision;
  readonly commit: VersionedCommit;
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

function toCommit(
  live: LiveTask,
  { facts, state }: Decision,
  { writer, once, unlessDeleted, dueAt }: WriteOptions,
  turn: Commit['turn'],
): VersionedCommit {
  const { scope, taskId, version } = live;
  return {
    scope,
    taskId,
    commitId: live.nextCommitId(),
    expectedVersion: version,
    facts,
    head: headAfter(live, facts, state && dueAt?.(state)),
    snapshot: state && nextSnapshot(live, live.snapshot, state),
    writer,
    turn,
    once,
    unlessDeleted,
    text: version === 0 ? textOfFirst(facts) : undefined,
  };
}

/** The head after these facts. Undefined if there are none and the task is due when it was. */
function headAfter(live: LiveTask, facts: readonly Fact[], due: number | undefined): Head | undefined {
  const head = keptAs(live, live.headAfter(facts));
  if (!head || (due === undefined && head.dueAt === undefined)) return facts.length > 0 ? head : undefined;
  const dueAt = due === undefined ? undefined : new Date(due).toISOString();
  return facts.length > 0 || dueAt !== head.dueAt ? { ...head, dueAt } : undefined;
}

/** The head of a task that ends, with how long it is kept if that differs. */
function keptAs({ dependencies: { keptLonger } }: LiveTask, head: Head | undefined): Head | undefined {
  const keepMs = head?.closed && keptLonger ? keptLonger(head) : undefined;
  return head && keepMs !== undefined ? { ...head, keepMs } : head;
}

const commitUntil = ({ dependencies }: LiveTask, commit: Commit, deadline: number): Promise<Committed> =>
  boundedUntil(() => dependencies.store.commit(commit), deadline, dependencies.clock);

/** Adds committed facts to the live task. */
function addWritten(
  live: LiveTask,
  { before, decision: { facts, state }, commit }: Draft,
  { version, lease }: Committed,
  sentAt: number,
): Written {
  const first = version - facts.length + 1;
  const { commitId, snapshot, head } = commit;
  const stored = facts.map((fact, i): StoredFact => ({ version: first + i, commitId, fact }));
  live.add(stored, state, snapshot, head);
  return { facts: stored, first, before, lease, sentAt };
}

/**
 * Appends facts at the end of the log, at whatever position that is, so that they never lose a race against a busy writer.
 * `once` names the append: a repetition under the same name writes nothing. Rejects with `LOG_DELETED` if the task was deleted.
 */
export async function appendOpenly(
  live: LiveTask,
  facts: readonly Fact[],
  once: string,
  turn: Commit['turn'],
): Promise<Written> {
  const { scope, taskId, dependencies } = live;
  const { store, clock } = dependencies;
  const deadline = writeDeadline(clock.monotonic(), live);
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
      await live.tryRefresh();
      return { facts: [], first, repeated: repeated && stored?.commitId !== commit.commitId };
    } catch (error) {
      // There is no log to append to any more.
      if (StoreError.is(error, 'VERSION_CONFLICT')) await live.tryRefresh();
      if (live.isDiverged) throw live.readError;
      const waitMs = backoffMs(clock);
      if (!StoreError.is(error, 'UNAVAILABLE') || clock.monotonic() + waitMs >= deadline) throw error;
      await clock.sleep(waitMs);
      attempt = boundedUntil(() => store.commit(commit), deadline, clock);
    }
  }
}
