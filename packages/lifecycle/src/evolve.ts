import type { Message, Part } from '@batonjs/protocol';
import { type Conversation, messageOf, positionOf, say, silence } from './conversation.ts';
import { type ArtifactUpdated, FACT_FORMAT, type Fact, type MessageReceived } from './facts.ts';
import { append, type List, toArray, toList } from './list.ts';
import type { ArtifactRecord, State, TaskRecord } from './state.ts';
import { isTerminal } from './states.ts';
import { weigh } from './weigh.ts';

/** A stored fact that this release cannot fold; the task is refused rather than misread. */
export class UnknownFactError extends Error {
  override readonly name = 'UnknownFactError';
  readonly code = 'UNKNOWN_FACT';
}

/**
 * Folds one fact into the state. Pure; the cost depends on the fact, not on how much was folded before.
 * Throws `UnknownFactError` for a fact of a newer release, or one that cannot stand where it stands.
 */
export function evolve(state: State | undefined, fact: Fact): State {
  // Not "is greater": a fact without a format is not ours either.
  if (!(fact.format <= FACT_FORMAT)) {
    throw new UnknownFactError(
      `The log holds facts of format ${fact.format}; this release reads ${FACT_FORMAT}`,
    );
  }
  if (!state) return begin(fact);
  const weight = state.weight + weigh(fact);
  // biome-ignore lint/complexity/useMathMinMax: times are strings
  const next = { ...state, weight, version: state.version + 1, at: state.at > fact.at ? state.at : fact.at };
  const visible = { generation: state.generation + 1 };
  const status = { ...visible, statusVersion: next.version };
  switch (fact.type) {
    case 'message-received': {
      const known = messageOf(state.conversation, fact.message.messageId);
      // Two processes may append the same message before either sees the other's. It is answered once.
      if (known && known.role !== 'ROLE_AGENT') return next;
      return {
        ...next,
        conversation: say(state.conversation, fact.message),
        untaken: [...state.untaken, fact],
      };
    }
    case 'task-created':
      return {
        ...next,
        ...status,
        contextId: fact.contextId,
        conversation: toArray(state.conversation.messages)
          .map((message) => ({ ...message, taskId: fact.taskId, contextId: fact.contextId }))
          .reduce(say, silence()),
        task: {
          id: fact.taskId,
          status: { state: 'TASK_STATE_SUBMITTED', timestamp: fact.at },
          artifacts: [],
        },
      };
    case 'answered':
      return { ...next, ...status, closed: true, answer: fact.message };
    case 'turn-started': {
      const { turn, attempt, messageIds } = fact;
      const kept = state.openTurn?.number === turn ? state.openTurn.steps : {};
      const took = take(state.untaken, messageIds);
      return {
        ...next,
        turns: turn,
        woken: undefined,
        untaken: took.left,
        taken:
          took.taken.length === 0 ? state.taken : attempt > 1 ? [...state.taken, ...took.taken] : took.taken,
        openTurn: { number: turn, attempt, messageIds, startedAt: fact.at, steps: kept },
      };
    }
    case 'message-taken': {
      const took = take(state.untaken, [fact.messageId]);
      const { openTurn } = state;
      return {
        ...next,
        untaken: took.left,
        taken: [...state.taken, ...took.taken],
        openTurn: openTurn && { ...openTurn, messageIds: [...openTurn.messageIds, fact.messageId] },
      };
    }
    case 'turn-ended':
      return { ...next, openTurn: undefined };
    case 'woken':
      return { ...next, woken: { metadata: fact.metadata } };
    case 'cancel-requested':
      return { ...next, cancelRequested: state.cancelRequested ?? { at: fact.at, metadata: fact.metadata } };
    case 'step-completed': {
      if (!state.openTurn) return next;
      // JSON has no undefined: a snapshot would forget that a step without a result was completed.
      const steps = { ...state.openTurn.steps, [fact.name]: fact.result ?? null };
      return { ...next, openTurn: { ...state.openTurn, steps } };
    }
    case 'status-changed': {
      const { message } = fact.status;
      const conversation = message ? say(state.conversation, message) : state.conversation;
      return {
        ...next,
        ...status,
        conversation,
        statusMessageAt: message ? spokenAt(conversation, message) : -1,
        closed: isTerminal(fact.status.state),
        task: { ...taskOf(state, fact), status: fact.status },
      };
    }
    case 'artifact-updated': {
      const task = taskOf(state, fact);
      return {
        ...next,
        ...visible,
        task: { ...task, artifacts: merge(task.artifacts, fact) },
      };
    }
    default:
      throw new UnknownFactError(
        `The log holds a fact of unknown type "${(fact as { type: unknown }).type}"`,
      );
  }
}

/** Folds a log from its beginning. */
export function replay(facts: Iterable<Fact>): State | undefined {
  let state: State | undefined;
  for (const fact of facts) state = evolve(state, fact);
  return state;
}

function begin(fact: Fact): State {
  if (fact.type !== 'message-received') throw new UnknownFactError(`A log cannot start with "${fact.type}"`);
  return {
    version: 1,
    weight: weigh(fact),
    generation: 0,
    statusVersion: 1,
    contextId: fact.message.contextId ?? '',
    createdAt: fact.at,
    at: fact.at,
    closed: false,
    conversation: say(silence(), fact.message),
    statusMessageAt: -1,
    untaken: [fact],
    taken: [],
    turns: 0,
  };
}

/** Where an agent's message stands; -1 if its id is a client's. */
const spokenAt = (conversation: Conversation, { messageId }: Message): number =>
  messageOf(conversation, messageId)?.role === 'ROLE_AGENT' ? positionOf(conversation, messageId) : -1;

function taskOf(state: State, fact: Fact): TaskRecord {
  if (!state.task) throw new UnknownFactError(`"${fact.type}" before "task-created"`);
  return state.task;
}

function take(untaken: readonly MessageReceived[], ids: readonly string[]) {
  const wanted = new Set(ids);
  const taken = untaken.filter(({ message }) => wanted.has(message.messageId));
  const left = untaken.filter(({ message }) => !wanted.has(message.messageId));
  return { taken, left };
}

function merge(
  artifacts: readonly ArtifactRecord[],
  { artifact, append: adds }: ArtifactUpdated,
): readonly ArtifactRecord[] {
  const { parts, ...about } = artifact;
  const index = artifacts.findLastIndex((known) => known.about.artifactId === about.artifactId);
  const known = artifacts[index];
  if (!known) return [...artifacts, { about, parts: toList(parts) }];
  if (!adds) return artifacts.with(index, { about, parts: toList(parts) });
  const all = parts.reduce<List<Part>>((list, part) => append(list, part), known.parts);
  return artifacts.with(index, { about: { ...known.about, ...about }, parts: all });
}
