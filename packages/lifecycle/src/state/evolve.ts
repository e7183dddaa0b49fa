import type { Message, Part } from '@batonjs/protocol';
import {
  addMessage,
  type Conversation,
  emptyConversation,
  messageOf,
  positionOf,
} from '../facts/conversation.ts';
import {
  type ArtifactUpdated,
  FACT_FORMAT,
  type Fact,
  type FactOf,
  type MessageReceived,
  type StatusChanged,
  type TaskCreated,
} from '../facts/facts.ts';
import { isTerminal } from '../facts/states.ts';
import { isSeen } from '../facts/traits.ts';
import { append, type List, toArray, toList } from '../values/list.ts';
import { Own, withMember } from '../values/own.ts';
import { weigh } from '../values/weigh.ts';
import { countLines, openCallback, receiveCallback, remember } from './agent-record.ts';
import { completeStep, failStep, failTurn, pauseTurn, startTurn, takeMessage } from './fold-turn.ts';
import type { ArtifactRecord, Draft, State, TaskRecord } from './state.ts';

/** A stored fact that this release cannot fold. It refuses the task rather than misread it. */
export class UnknownFactError extends Error {
  override readonly name = 'UnknownFactError';
  readonly code = 'UNKNOWN_FACT';

  /** Whether the value is an UnknownFactError, also one of another copy of this package. */
  static is(value: unknown): value is UnknownFactError {
    return typeof value === 'object' && value !== null && 'code' in value && value.code === 'UNKNOWN_FACT';
  }
}

/**
 * Folds one fact into the state. Pure; the cost depends on the fact, not on how much was folded before.
 * Throws `UnknownFactError` for a fact of a newer release, and for one that cannot follow the facts before it.
 */
export const evolve = (state: State | undefined, fact: Fact): State => foldOne(state, fact);

function foldOne(state: State | undefined, fact: Fact, own?: Own): State {
  // Not "is greater": a fact without a format is not ours either.
  if (!(fact.format <= FACT_FORMAT)) {
    throw new UnknownFactError(
      `The log holds facts of format ${fact.format}; this release reads ${FACT_FORMAT}`,
    );
  }
  if (!state) return begin(fact);
  // One copy per fact, changed in place. Another copy for each member would be most of the cost of folding.
  const next: Draft = { ...state };
  next.version += 1;
  next.weight += weigh(fact);
  if (fact.at > next.at) next.at = fact.at;
  if (isSeen(fact)) next.generation += 1;
  fold(next, fact, own);
  return next;
}

function fold(next: Draft, fact: Fact, own?: Own): void {
  switch (fact.type) {
    case 'message-received':
      receiveMessage(next, fact);
      return;
    case 'task-created':
      createTask(next, fact);
      return;
    case 'answered':
      showStatus(next);
      next.closed = true;
      next.answer = fact.message;
      return;
    case 'turn-started':
      startTurn(next, fact);
      return;
    case 'message-taken':
      takeMessage(next, fact);
      return;
    case 'turn-ended':
      next.openTurn = undefined;
      return;
    case 'woken':
      next.woken = { metadata: fact.metadata };
      next.immediateWakes = undefined;
      return;
    case 'wake-set':
      next.wakeAt = fact.time;
      next.immediateWakes =
        fact.immediateWakes === undefined ? undefined : { turn: fact.turn, count: fact.immediateWakes };
      return;
    case 'cancel-requested':
      next.cancelRequested ??= { at: fact.at, metadata: fact.metadata };
      return;
    case 'step-completed':
    case 'step-failed':
    case 'turn-failed':
    case 'turn-paused':
    case 'memory-changed':
    case 'turn-logged':
    case 'labels-set':
    case 'callback-opened':
    case 'callback-received':
      foldUnseen(next, fact, own);
      return;
    case 'child-updated':
      next.children = withMember(next.children, fact.name, fact.child, own);
      return;
    case 'status-changed':
      changeStatus(next, fact);
      return;
    case 'artifact-updated':
      changeArtifact(next, fact, own);
      return;
    default:
      throw new UnknownFactError(
        `The log holds a fact of unknown type "${(fact satisfies never as { type: unknown }).type}"`,
      );
  }
}

type Unseen =
  | `step-${'completed' | 'failed'}`
  | `turn-${'failed' | 'paused' | 'logged'}`
  | `callback-${'opened' | 'received'}`
  | 'memory-changed'
  | 'labels-set';

/** Folds what the agent's own work needs, and what tells clients of no event. */
function foldUnseen(next: Draft, fact: FactOf<Unseen>, own?: Own): void {
  switch (fact.type) {
    case 'step-completed':
      completeStep(next, fact, own);
      return;
    case 'step-failed':
      failStep(next, fact, own);
      return;
    case 'turn-failed':
      failTurn(next, fact);
      return;
    case 'turn-paused':
      pauseTurn(next, fact);
      return;
    case 'memory-changed':
      next.agent = remember(next.agent, fact, own);
      return;
    case 'turn-logged':
      next.agent = countLines(next.agent, fact);
      return;
    case 'labels-set':
      next.labels = fact.labels.length > 0 ? fact.labels : undefined;
      return;
    case 'callback-opened':
      next.agent = openCallback(next.agent, fact, own);
      return;
    case 'callback-received':
      next.agent = receiveCallback(next.agent, fact, own);
      next.woken ??= { metadata: undefined };
      next.immediateWakes = undefined;
      return;
  }
}

function receiveMessage(next: Draft, fact: MessageReceived): void {
  const known = messageOf(next.conversation, fact.message.messageId);
  // Two processes may append the same message before either sees the other's. It is answered once.
  if (known && known.role !== 'ROLE_AGENT') return;
  next.conversation = addMessage(next.conversation, fact.message);
  next.pending = [...next.pending, fact];
  if (fact.skill !== undefined) next.skills = withSkill(next.skills, fact.skill);
}

function createTask(next: Draft, { taskId, contextId, at }: TaskCreated): void {
  showStatus(next);
  next.contextId = contextId;
  next.conversation = ownedBy(taskId, contextId, next.conversation);
  next.task = { id: taskId, status: { state: 'TASK_STATE_SUBMITTED', timestamp: at }, artifacts: [] };
}

function changeStatus(next: Draft, fact: StatusChanged): void {
  const { status } = fact;
  const { id, artifacts } = taskOf(next, fact);
  showStatus(next);
  if (status.message) next.conversation = addMessage(next.conversation, status.message);
  next.statusMessageAt = status.message ? spokenAt(next.conversation, status.message) : -1;
  next.closed = isTerminal(status.state);
  next.task = { id, status, artifacts };
  if (status.state === 'TASK_STATE_INPUT_REQUIRED')
    next.question = fact.question && { ...fact.question, messageId: status.message?.messageId ?? '' };
}

function changeArtifact(next: Draft, fact: ArtifactUpdated, own?: Own): void {
  const { id, status, artifacts } = taskOf(next, fact);
  next.task = { id, status, artifacts: merge(artifacts, fact, own) };
}

/** The current status, as the latest fact set it. */
function showStatus(next: Draft): void {
  next.statusVersion = next.version;
}

const ownedBy = (taskId: string, contextId: string, { messages }: Conversation): Conversation =>
  toArray(messages).reduce(
    (all, message) => addMessage(all, { ...message, taskId, contextId }),
    emptyConversation,
  );

/**
 * Folds a whole log, or the facts that follow a state. The cost depends on the facts alone, however many there are: `evolve`
 * copies what a fact changes, because the state before it has readers. Throws as `evolve` does.
 */
export function replay(facts: readonly Fact[], state?: State): State | undefined {
  const own = facts.length > 1 ? new Own() : undefined;
  return facts.reduce<State | undefined>((before, fact) => foldOne(before, fact, own), state);
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
    conversation: addMessage(emptyConversation, fact.message),
    statusMessageAt: -1,
    question: undefined,
    pending: [fact],
    taken: [],
    turns: 0,
    // All members from the start: engines are fast with objects of one shape.
    task: undefined,
    answer: undefined,
    openTurn: undefined,
    cancelRequested: undefined,
    woken: undefined,
    notBefore: fact.notBefore,
    wakeAt: undefined,
    immediateWakes: undefined,
    children: undefined,
    agent: undefined,
    tokens: undefined,
    costs: undefined,
    skills: fact.skill === undefined ? undefined : [fact.skill],
    labels: fact.labels?.length ? fact.labels : undefined,
    givenLabels: fact.labels?.length ? fact.labels : undefined,
  } satisfies { readonly [Name in keyof Required<State>]: State[Name] };
}

const withSkill = (skills: readonly string[] = [], skill: string): readonly string[] =>
  skills.includes(skill) ? skills : [...skills, skill];

/** The position of an agent's message; -1 if a client's message has its id. */
const spokenAt = (conversation: Conversation, { messageId }: Message): number =>
  messageOf(conversation, messageId)?.role === 'ROLE_AGENT' ? positionOf(conversation, messageId) : -1;

function taskOf(state: Pick<State, 'task'>, fact: Fact): TaskRecord {
  if (!state.task) throw new UnknownFactError(`"${fact.type}" before "task-created"`);
  return state.task;
}

function merge(
  artifacts: readonly ArtifactRecord[],
  { artifact, append: adds }: ArtifactUpdated,
  own?: Own,
): readonly ArtifactRecord[] {
  const { parts, ...about } = artifact;
  const index = own
    ? positionIn(artifacts, about.artifactId, own)
    : artifacts.findLastIndex(({ about: { artifactId } }) => artifactId === about.artifactId);
  const known = artifacts[index];
  const record =
    !known || !adds
      ? { about, parts: toList(parts) }
      : { about: { ...known.about, ...about }, parts: parts.reduce<List<Part>>(append, known.parts) };
  const all = own?.has(artifacts) ? (artifacts as ArtifactRecord[]) : [...artifacts];
  own?.add(all);
  all[known ? index : all.length] = record;
  return all;
}

/** The position of an artifact, found without looking at the others; after them if it is a new one. */
function positionIn(artifacts: readonly ArtifactRecord[], id: string, { artifacts: positions }: Own): number {
  if (positions.size === 0)
    for (const [index, { about }] of artifacts.entries()) positions.set(about.artifactId, index);
  const index = positions.get(id) ?? artifacts.length;
  positions.set(id, index);
  return index;
}
