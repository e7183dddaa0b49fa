import { evolve, type Fact, headOf, isInterrupted, isTerminal, type State } from '@batonjs/lifecycle';
import { failureCodeOf } from '@batonjs/lifecycle/internals';
import { deadlineExceeded, processLost, serverClosed } from '@batonjs/server/turns';
import type { Scope, StoredFact, StoredLog, TaskStore } from '@batonjs/store';

/** The log of a task, as JSON: what `replayTask` takes. It holds all that the log holds, what no client sees too. */
export interface TaskRecording {
  readonly taskId: string;
  readonly facts: readonly StoredFact[];
  /** The other tasks of its context, and those that its messages refer to. */
  readonly related?: readonly Omit<TaskRecording, 'related'>[];
}

const batch = 256;
/** How many tasks of the context a turn sees. */
const mostRelated = 100;

/** Reads the log of a task; undefined if there is none. `scope`: as the store names it. Changes nothing. */
export async function recordTask(
  store: TaskStore,
  scope: Scope,
  taskId: string,
): Promise<TaskRecording | undefined> {
  const facts = await factsOf(store, scope, taskId);
  const [first] = facts;
  if (first?.fact.type !== 'message-received') return undefined;
  const contextId = first.fact.message.contextId ?? '';
  const page = await store.list(scope, { contextId, answered: true, limit: mostRelated + 1, totalAtMost: 0 });
  const named = facts.flatMap(({ fact }) =>
    fact.type === 'message-received' ? (fact.message.referenceTaskIds ?? []) : [],
  );
  const ids = new Set([...page.tasks.map((task) => task.taskId), ...named]);
  ids.delete(taskId);
  const related = [];
  for (const id of [...ids].slice(0, mostRelated)) {
    const others = await factsOf(store, scope, id);
    if (others.length > 0) related.push({ taskId: id, facts: others });
  }
  return { taskId, facts, ...(related.length > 0 && { related }) };
}

async function factsOf(store: TaskStore, scope: Scope, taskId: string): Promise<StoredFact[]> {
  const facts: StoredFact[] = [];
  for (;;) {
    const more = await store.readFacts(scope, taskId, facts.length, batch);
    facts.push(...more);
    if (more.length < batch) return facts;
  }
}

/** The recorded tasks beside a turn, as a store that is only read has them at a time (ISO 8601, UTC). */
export function storeAt(
  recordings: TaskRecording['related'] = [],
  at: string,
): Pick<TaskStore, 'list' | 'load'> {
  const logs = recordings.flatMap(({ taskId, facts }) => {
    const log = logAt(facts, at);
    return log ? [{ taskId, log }] : [];
  });
  return {
    async list(_scope, { contextId, answered = false, limit }) {
      const tasks = logs
        .filter(({ log: { head } }) => head.contextId === contextId && (answered || head.state !== undefined))
        .map(({ taskId, log: { head } }) => ({ taskId, head }))
        .slice(0, limit);
      return { tasks, total: tasks.length };
    },
    load: async (_scope, taskId) => logs.find((each) => each.taskId === taskId)?.log,
  };
}

function logAt(all: readonly StoredFact[], at: string): StoredLog | undefined {
  const facts = all.filter(({ fact }) => fact.at <= at);
  const head = facts.reduce<ReturnType<typeof headOf> | undefined>(
    (head, { fact }) => headOf(head, fact),
    undefined,
  );
  return head && { head, version: facts.length, facts };
}

/** How an attempt ended, and where: the index of the first fact that the agent did not cause. */
export interface AttemptEnd {
  /**
   * `cut`: something else ended it, such as a crash or a cancel, or it has not ended. `paused`: a step waits for long.
   * `threw`: the agent threw. The others: the agent ended its task, asked, answered, or ended without any of them.
   */
  readonly kind: 'cut' | 'paused' | 'threw' | 'closed' | 'asked' | 'answered' | 'ended';
  readonly at: number;
  /** What the agent threw. */
  readonly message?: string;
}

/** One attempt of a turn, as the log has it. */
export interface RecordedAttempt {
  readonly turn: number;
  readonly attempt: number;
  /** The task when the agent was called. */
  readonly before: State;
  /** What happened since then. */
  readonly facts: readonly StoredFact[];
  readonly end: AttemptEnd;
}

/** The attempts of a log, in order. */
export function attemptsIn(log: readonly StoredFact[]): readonly RecordedAttempt[] {
  const attempts: RecordedAttempt[] = [];
  let state: State | undefined;
  for (const [index, { fact }] of log.entries()) {
    state = evolve(state, fact);
    if (fact.type !== 'turn-started') continue;
    const facts = factsOfAttempt(log, index + 1);
    const { turn, attempt } = fact;
    attempts.push({ turn, attempt, before: state, facts, end: endOf(facts, state) });
  }
  return attempts;
}

function factsOfAttempt(log: readonly StoredFact[], from: number): readonly StoredFact[] {
  let end = from;
  for (; end < log.length; end++) {
    const type = log[end]?.fact.type;
    if (type === 'turn-started') break;
    if (type !== 'turn-ended') continue;
    // Of the same commit: the status or the answer that closes the log.
    const next = log[end + 1]?.fact;
    end += next !== undefined && isClosing(next) ? 2 : 1;
    break;
  }
  return log.slice(from, end);
}

const isClosing = (fact: Fact): boolean =>
  fact.type === 'answered' || (fact.type === 'status-changed' && isTerminal(fact.status.state));

/** The codes of failures that no agent causes. */
const ofServer = [processLost, deadlineExceeded, serverClosed].map(({ code }) => code);

function endOf(facts: readonly StoredFact[], { cancelRequested }: State): AttemptEnd {
  if (cancelRequested) return { kind: 'cut', at: 0 };
  for (const [at, { fact }] of facts.entries()) {
    if (fact.type === 'cancel-requested') return { kind: 'cut', at };
    if (fact.type === 'turn-paused') return { kind: 'paused', at: beforeShown(facts, at) };
    if (fact.type === 'turn-failed')
      return { kind: 'threw', at: beforeShown(facts, at), message: fact.message };
    if (fact.type === 'turn-ended') return endAt(facts, at);
  }
  return { kind: 'cut', at: facts.length };
}

function endAt(facts: readonly StoredFact[], at: number): AttemptEnd {
  const next = facts[at + 1]?.fact;
  if (next?.type === 'answered') return { kind: 'answered', at: facts.length };
  if (next?.type === 'status-changed') {
    const code = failureCodeOf(next.status);
    if (code === undefined || !ofServer.includes(code)) return { kind: 'closed', at: facts.length };
    let first = at;
    while (facts[first - 1]?.fact.type === 'child-updated') first--;
    return { kind: 'cut', at: first };
  }
  const last = facts[at - 1]?.fact;
  const isAsked = last?.type === 'status-changed' && last.status.state === 'TASK_STATE_INPUT_REQUIRED';
  return { kind: isAsked ? 'asked' : 'ended', at };
}

/** A task that was only submitted is shown to be worked on when its turn is paused: the server says so, not the agent. */
function beforeShown(facts: readonly StoredFact[], at: number): number {
  const last = facts[at - 1];
  const isSame = last?.commitId === facts[at]?.commitId;
  const isShown =
    isSame && last?.fact.type === 'status-changed' && last.fact.status.state === 'TASK_STATE_WORKING';
  return isShown ? at - 1 : at;
}

/** Whether the first fact of an attempt is the state of a task that waited: the server wrote it. */
export const beginsInterrupted = ({ before, facts: [first] }: RecordedAttempt): boolean =>
  before.task !== undefined &&
  isInterrupted(before.task.status.state) &&
  first?.fact.type === 'status-changed' &&
  first.fact.status.state === 'TASK_STATE_WORKING';
