import type { Message, Part } from '@batonjs/protocol';
import { invalidParams } from '@batonjs/protocol/errors';
import type { Fact, MessageReceived } from '../facts/facts.ts';
import { eachOnce } from '../facts/labels.ts';
import { isInterrupted } from '../facts/states.ts';
import { evolve } from '../state/evolve.ts';
import { nextTurnAt, type State } from '../state/state.ts';
import { freezeMembers } from '../values/frozen-json.ts';
import type { Fork } from './fork.ts';
import { cutAt, positionOf } from './fork-position.ts';
import { reusedFacts } from './reused-facts.ts';

/** The log of a fork. */
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
  const taken = cutAt(facts, position);
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
  if (fact.type !== 'status-changed') return { ...fact, at };
  const { message } = fact.status;
  return {
    ...fact,
    at,
    status: { ...fact.status, timestamp: at, ...(message && { message: owned(message) }) },
  };
}
