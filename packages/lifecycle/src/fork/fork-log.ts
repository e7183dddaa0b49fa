import type { Message, Part } from '@batonjs/protocol';
import { invalidParams } from '@batonjs/protocol/errors';
import type { ChildUpdated, Fact, MessageReceived } from '../facts/facts.ts';
import { eachOnce } from '../facts/labels.ts';
import { isInterrupted, isTerminal } from '../facts/states.ts';
import { evolve } from '../state/evolve.ts';
import { answerPrefix, nextTurnAt, type State } from '../state/state.ts';
import { viewArtifact } from '../state/view.ts';
import { freezeMembers } from '../values/frozen-json.ts';

/**
 * From where a fork goes on: from the first message, after a step (the latest one of this name, with its result), or after
 * the fact at a position of the log, from 1.
 */
export type ForkFrom = 'start' | { readonly step: string } | { readonly position: number };

/** The task that begins as another one was at a point of its log. */
interface Fork {
  readonly taskId: string;
  readonly from: ForkFrom;
  /** The time of all its facts: ISO 8601, UTC, milliseconds. */
  readonly at: string;
  /** From the first message on: what it says instead. Otherwise: what a message says that follows. */
  readonly parts?: readonly Part[] | undefined;
  /** The id of the message with these parts. */
  readonly messageId: string;
  /** Instead of that of the step which ended there. */
  readonly result?: unknown;
  /** Instead of the labels that the origin had. */
  readonly labels?: readonly string[] | undefined;
  /** Who asked for it. */
  readonly by?: string | undefined;
  /** Steps of the open turn that are not reused. */
  readonly forgotten?: readonly string[];
}

export interface ForkedLog {
  readonly facts: readonly Fact[];
  readonly state: State;
}

/**
 * The log of a task that goes on from a point in the log of another one, and reuses messages, steps, memory, artifacts and
 * children that ended up to there. A turn that was open there is paused, so that its next attempt starts at once. Pure;
 * `facts` is the whole log of the origin. Throws `INVALID_PARAMS` for a point from which no task can go on.
 */
export function forkLog(originId: string, facts: readonly Fact[], fork: Fork): ForkedLog {
  const { at, taskId, parts } = fork;
  const position = positionOf(facts, fork.from);
  const taken = withResult(cutAt(facts, position), fork.result);
  const [first] = taken;
  if (first?.type !== 'message-received') throw new TypeError('A log begins with a message');
  const before = taken.slice(1).reduce(evolve, evolve(undefined, first));
  const { contextId } = before;
  const owned = (message: Message): Message => ({ ...message, taskId, contextId });
  const isNew = taken.length === 1;
  const message =
    isNew && parts ? { ...first.message, parts: [...parts], messageId: fork.messageId } : first.message;
  const begun: MessageReceived = {
    ...bare(first),
    at,
    message: {
      ...owned(message),
      referenceTaskIds: [...new Set([...(message.referenceTaskIds ?? []), originId])],
    },
    forked: { taskId: originId, position, ...(fork.by !== undefined && { by: fork.by }) },
    ...labelled(fork.labels ?? first.labels),
  };
  const forked: Fact[] = [
    { format: first.format, at, type: 'task-created', taskId, contextId },
    ...reusedFacts(taken, before, fork).map((fact) => ownedBy(fact, owned, at)),
  ];
  const latest = taken.reduce<MessageReceived>(
    (before, fact) => (fact.type === 'message-received' ? fact : before),
    first,
  );
  if (parts && !isNew) forked.push(following(latest, parts, fork, owned));
  const { openTurn } = before;
  if (openTurn)
    forked.push({ format: first.format, at, type: 'turn-paused', turn: openTurn.number, until: at });
  const state = forked.reduce(evolve, evolve(undefined, begun));
  const isAsking = state.task && isInterrupted(state.task.status.state);
  if (nextTurnAt(state) === undefined && !isAsking)
    throw invalidParams([
      { field: 'from', description: `nothing is left to do at position ${position}: give a message too` },
    ]);
  return { facts: [begun, ...forked].map(freezeMembers), state };
}

/** The message without what was of its request alone. */
const bare = ({
  traceparent: _,
  notBefore: __,
  ifGeneration: ___,
  forked: ____,
  labels: _____,
  ...kept
}: MessageReceived): MessageReceived => kept;

const labelled = (labels: readonly string[] | undefined): Pick<MessageReceived, 'labels'> =>
  labels?.length ? { labels: eachOnce(labels) } : {};

/** A message that the fork begins with, after what it reuses: with the caller and the configuration of the one before. */
function following(
  before: MessageReceived,
  parts: readonly Part[],
  { at, messageId }: Fork,
  owned: (message: Message) => Message,
): MessageReceived {
  return { ...bare(before), at, message: owned({ messageId, role: 'ROLE_USER', parts: [...parts] }) };
}

/** The fact as one of the fork. */
function ownedBy(fact: Fact, owned: (message: Message) => Message, at: string): Fact {
  if (fact.type === 'message-received') return { ...bare(fact), at, message: owned(fact.message) };
  if (fact.type === 'step-completed') {
    // The task of the origin used it.
    const { usage: _, ...step } = fact;
    return { ...step, at };
  }
  if (fact.type === 'child-updated') return { ...fact, at, child: { ...fact.child, usage: undefined } };
  if (fact.type !== 'status-changed') return { ...fact, at };
  const { message } = fact.status;
  return {
    ...fact,
    at,
    status: { ...fact.status, timestamp: at, ...(message && { message: owned(message) }) },
  };
}

/** The position in a log. Throws `INVALID_PARAMS` if the log has none. */
function positionOf(facts: readonly Fact[], from: ForkFrom): number {
  if (from === 'start') return 1;
  if ('step' in from) {
    const at = facts.findLastIndex((fact) => fact.type === 'step-completed' && fact.name === from.step);
    if (at < 0) throw invalid(`the task has completed no step "${from.step}"`);
    return at + 1;
  }
  const { position } = from;
  if (!Number.isInteger(position) || position < 1 || position > facts.length)
    throw invalid(`a position of this task is a whole number from 1 to ${facts.length}`);
  return position;
}

/** The facts up to the position. Throws `INVALID_PARAMS` if the task had ended there. */
function cutAt(facts: readonly Fact[], position: number): readonly Fact[] {
  const end = facts.findIndex(closes);
  if (end >= 0 && position > end) throw invalid(`the task has ended at position ${position}`);
  // The end of a turn and that of its task are one commit.
  const isEnding = end >= 0 && position === end && facts[position - 1]?.type === 'turn-ended';
  return facts.slice(0, isEnding ? position - 1 : position);
}

/** The facts with another result of the step that ended last. Throws `INVALID_PARAMS` if they end with none. */
function withResult(taken: readonly Fact[], result: unknown): readonly Fact[] {
  const last = taken.at(-1);
  if (result === undefined) return taken;
  if (last?.type === 'step-completed') return taken.with(-1, { ...last, result });
  throw invalidParams([{ field: 'result', description: 'needs a point at which a step ended' }]);
}

const closes = (fact: Fact): boolean =>
  fact.type === 'answered' || (fact.type === 'status-changed' && isTerminal(fact.status.state));

const invalid = (description: string) => invalidParams([{ field: 'from', description }]);

/**
 * The facts that a fork takes over after the first message, of the facts up to its point and the state there. The rest is
 * the origin's alone: failures and further attempts, a cancel request, callbacks without a value or an answer, children
 * at work. Artifacts are whole, at the end.
 */
function reusedFacts(taken: readonly Fact[], state: State, fork: Fork): readonly Fact[] {
  const answered = new Set(taken.flatMap((fact) => answeredIn(fact) ?? []));
  const ended = new Map<string, ChildUpdated>();
  for (const fact of taken) if (fact.type === 'child-updated') ended.set(fact.name, fact);
  const reused = taken.slice(1).filter((fact) => isReused(fact, state, fork, { answered, ended }));
  const format = taken[0]?.format ?? 1;
  const artifacts = (state.task?.artifacts ?? []).map(
    (record): Fact => ({
      format,
      at: fork.at,
      type: 'artifact-updated',
      artifact: viewArtifact(record),
      append: false,
      lastChunk: true,
    }),
  );
  return [...reused, ...artifacts];
}

/** The id of the callback whose value, or whose answer of a person, the fact is. */
function answeredIn(fact: Fact): string | undefined {
  if (fact.type === 'callback-received') return fact.id;
  const id = fact.type === 'message-received' ? fact.message.messageId : '';
  return id.startsWith(answerPrefix) ? id.slice(answerPrefix.length) : undefined;
}

interface Finished {
  /** The ids of callbacks whose value or answer came. */
  readonly answered: ReadonlySet<string>;
  /** The latest fact of each child. */
  readonly ended: ReadonlyMap<string, ChildUpdated>;
}

function isReused(fact: Fact, { openTurn }: State, fork: Fork, { answered, ended }: Finished): boolean {
  switch (fact.type) {
    case 'message-received':
    case 'turn-ended':
    case 'message-taken':
    case 'woken':
    case 'wake-set':
    case 'status-changed':
    case 'memory-changed':
    case 'callback-received':
      return true;
    case 'turn-started':
      return fact.attempt === 1;
    case 'step-completed':
      return fact.turn !== openTurn?.number || !fork.forgotten?.includes(fact.name);
    case 'labels-set':
      return fork.labels === undefined;
    case 'callback-opened':
      return answered.has(fact.id);
    case 'child-updated':
      return ended.get(fact.name) === fact && fact.child.state !== undefined && isTerminal(fact.child.state);
  }
  fact satisfies { type: LeftBehind };
  return false;
}

/** A type of fact that is the origin's alone. */
type LeftBehind =
  | 'task-created'
  | 'answered'
  | 'artifact-updated'
  | 'cancel-requested'
  | 'step-failed'
  | 'turn-failed'
  | 'turn-paused'
  | 'turn-logged';
