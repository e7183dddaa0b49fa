import { type Fact, headOf, labelProblem, nextTurnAt } from '@batonjs/lifecycle';
import { type ForkFrom, forkLog, textOfFirst } from '@batonjs/lifecycle/internals';
import type { Part } from '@batonjs/protocol';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { parseParams } from '@batonjs/protocol/parse-params';
import {
  checkDecided,
  dueAt,
  insideOf,
  isoTime,
  newId,
  nextSnapshot,
  orderFor,
  secretStep,
  taskNotFound,
  toWireError,
} from '@batonjs/server/internals';
import { type Commit, StoreError, type TaskName, type TaskStore } from '@batonjs/store';
import { type OfCaller, type Operated, type Source, scopeIn, sourceOf, tried } from './operated.ts';

/** What a fork is asked for. */
export interface ForkRequest {
  /**
   * `'start'`: the first message, and nothing else, is taken over. The name of a step: all up to its latest result. A
   * number: all up to this position of the log, from 1. Default `'start'`.
   */
  readonly from?: string | number | undefined;
  /** From the start: what the first message says instead. Otherwise: the message that the fork gets next. */
  readonly message?: string | readonly Part[] | undefined;
  /** From a step, or the position where one ended: its result instead, as JSON. */
  readonly result?: unknown;
  /** The labels that the fork begins with. Default: those that the origin had there. */
  readonly labels?: readonly string[] | undefined;
  /** Who asked, for the log of the fork: at most 1,024 characters. */
  readonly by?: string | undefined;
}

/** What a fork is asked for, and whose task the origin is. */
export interface ForkOptions extends ForkRequest, OfCaller {}

const longestName = 1_024;
const batch = 256;
/** How long a commit is tried while the store does not answer, in milliseconds. */
const tryForMs = 10_000;

/**
 * Makes a task that goes on from a point of another one and reuses what was recorded up to there. It is of the same
 * context, and names its origin, which stays as it is. Resolves to its id. Rejects with an `A2AError`: `TASK_NOT_FOUND`,
 * `INVALID_PARAMS` for a point from which no task can go on, `RESOURCE_EXHAUSTED` at a limit.
 */
export async function forkTask(agent: Operated, taskId: string, options: ForkOptions = {}): Promise<string> {
  const { caller, tenant, ...request } = options;
  const source = sourceOf(agent);
  const scope = scopeIn(source, options);
  const inside = insideOf(agent);
  await inside?.mayBegin(scope);
  try {
    return await forkStored({ scope, taskId }, { by: caller ?? '', ...request }, source);
  } catch (error) {
    throw inside ? toWireError(error, inside.logger, { taskId }) : error;
  }
}

/** The same, by the store alone. `id`: that of the fork; an earlier call may have made it. */
export async function forkStored(
  origin: TaskName,
  { from = 'start', message, result, labels, by }: ForkRequest,
  source: Source,
  id: string = newId(source.clock),
): Promise<string> {
  const { store, clock, queue, schedule, timeouts = {}, limits, onEvent } = source;
  const { scope, taskId } = origin;
  const parts = message === undefined ? undefined : partsOf(message);
  checkWords(labels, by);
  const facts = await readAll(store, origin);
  if (!facts.some(({ type }) => type === 'task-created')) throw taskNotFound(taskId);
  const at = isoTime(clock.now());
  const messageId = newId(clock);
  const forgotten = [secretStep];
  const fork = { taskId: id, from: fromOf(from), at, messageId, parts, result, labels, by, forgotten };
  const forked = forkLog(taskId, facts, fork);
  if (limits) checkDecided(forked, limits);
  const { state } = forked;
  const snapshot = nextSnapshot(forked, { version: 0, weight: 0, ownWeight: 0 }, state);
  const due = dueAt(state, timeouts);
  const head = forked.facts.reduce<ReturnType<typeof headOf> | undefined>(headOf, undefined);
  const first = state.pending[0] ?? state.taken.at(-1);
  const next = nextTurnAt(state);
  const isDue = next !== undefined && next <= at;
  const commit = {
    scope,
    taskId: id,
    commitId: newId(clock),
    expectedVersion: 0,
    facts: forked.facts,
    // Without it, each process that opens the task folds all of the log.
    ...(snapshot && { snapshot }),
    text: textOfFirst(forked.facts),
    origin: taskId,
    head: head && { ...head, ...(due !== undefined && { dueAt: isoTime(due) }) },
    turn: {
      queue,
      ...(isDue && { want: true, ...(limits && { waitingAtMost: limits.queuedTurns }) }),
      ...orderFor(schedule, first),
    },
  };
  if (source.files) await source.files.fork(scope, taskId, id);
  else if (JSON.stringify(forked.facts).includes('"url":"baton-file:'))
    throw new A2AError('UNSUPPORTED_OPERATION', 'The task has files: fork it at its server');
  if (await begin(commit, taskId, source)) {
    const { contextId, createdAt, task } = state;
    const to = task?.status.state ?? 'TASK_STATE_SUBMITTED';
    onEvent?.({ type: 'transition', taskId: id, contextId, from: undefined, to, at: createdAt });
  }
  return id;
}

/** Writes the first commit of a fork. Resolves to false if an earlier call with this id did for the same origin. */
async function begin(commit: Commit, origin: string, { store, clock }: Source): Promise<boolean> {
  try {
    await tried(async () => store.commit(commit), clock, tryForMs);
    return true;
  } catch (error) {
    // It was erased while it was read.
    if (StoreError.is(error, 'LOG_DELETED')) throw taskNotFound(origin);
    if (StoreError.is(error, 'QUEUE_FULL'))
      throw new A2AError('RESOURCE_EXHAUSTED', 'Too many tasks wait for their turn', { retryAfter: 1 });
    // A commit is there, which may be this one: an answer may have been lost.
    if (!StoreError.is(error, 'VERSION_CONFLICT') && !StoreError.is(error, 'LOG_CLOSED')) throw error;
  }
  if ((await originOf(commit, store)) === origin) return false;
  throw new A2AError('MESSAGE_ID_CONFLICT', `There is another task ${commit.taskId}`);
}

/** The id of the task that a fork was made of; undefined for every other task. */
export async function originOf({ scope, taskId }: TaskName, store: TaskStore): Promise<string | undefined> {
  const [first] = await store.readFacts(scope, taskId, 0, 1);
  return first?.fact.type === 'message-received' ? first.fact.forked?.taskId : undefined;
}

function partsOf(message: string | readonly Part[]): readonly Part[] {
  const parts = typeof message === 'string' ? [{ text: message }] : [...message];
  const given = { messageId: 'fork', role: 'ROLE_USER', parts } as const;
  return parseParams('SendMessage', { message: given }).message.parts;
}

/** Throws `INVALID_PARAMS` for labels or a name that no log can have. */
function checkWords(labels: readonly string[] | undefined, by: string | undefined): void {
  const problem = labels && labelProblem(labels);
  if (problem) throw invalidParams([{ field: 'labels', description: problem }]);
  if (by !== undefined && (typeof by !== 'string' || by.length > longestName))
    throw invalidParams([
      { field: 'by', description: `must be a text of at most ${longestName} characters` },
    ]);
}

const fromOf = (from: string | number): ForkFrom =>
  from === 'start' ? from : typeof from === 'number' ? { position: from } : { step: from };

/** The whole log of a task. Throws `TASK_NOT_FOUND`. */
async function readAll(store: TaskStore, { scope, taskId }: TaskName): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  for (;;) {
    const page = await store.readFacts(scope, taskId, facts.length, batch);
    for (const { fact } of page) facts.push(fact);
    if (page.length < batch) break;
  }
  if (facts.length === 0) throw taskNotFound(taskId);
  return facts;
}
