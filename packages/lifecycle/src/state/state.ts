import type { Artifact, Message, Part, TaskStatus } from '@batonjs/protocol';
import type { Conversation } from '../facts/conversation.ts';
import type { Child, Costs, MessageReceived, Metadata } from '../facts/facts.ts';
import type { OnlyBy, Question } from '../facts/question-link.ts';
import type { List } from '../values/list.ts';
import { type AgentRecord, callbackOf } from './agent-record.ts';

/** An artifact with its parts apart, so that adding a chunk does not copy those before it. */
export interface ArtifactRecord {
  readonly about: Omit<Artifact, 'parts'>;
  readonly parts: List<Part>;
}

/** The task inside a log, from `task-created` on. */
export interface TaskRecord {
  readonly id: string;
  readonly status: TaskStatus;
  readonly artifacts: readonly ArtifactRecord[];
}

/** How often a step failed in the attempts of a turn, and why the last time. */
export interface StepFailures {
  readonly attempt: number;
  readonly message: string;
  /** When it failed: ISO 8601, UTC, milliseconds. */
  readonly at?: string;
  /** When the next try is due: ISO 8601, UTC, milliseconds. Absent: there is none. */
  readonly retryAt?: string;
}

/** A turn that started and has not ended. */
export interface OpenTurn {
  readonly number: number;
  readonly attempt: number;
  /** The messages it took, in this attempt and those before. */
  readonly messageIds: readonly string[];
  /** Those among them that an attempt took while it ran. Absent without any, and in snapshots of earlier releases. */
  readonly takenLater?: readonly string[];
  readonly startedAt: string;
  /** The version of the program that ran its latest attempt. */
  readonly version?: string;
  /** The time for which a turn before had asked, where this one started for something else and so took its place. */
  readonly replacedWake?: string;
  /** Results of completed steps. Absent without any. Look up with `stepOf`. */
  readonly steps?: StepResults;
  /** Steps that failed and were not completed since, by name. Look up with `Object.hasOwn`. */
  readonly stepFailures?: Readonly<Record<string, StepFailures>>;
  /** How many attempts ended because the agent threw. */
  readonly failures?: number;
  /** How many attempts gave their process back before they ended. */
  readonly pauses?: number;
  /** No attempt runs, and the next one starts at this time: ISO 8601, UTC, milliseconds. */
  readonly pausedUntil?: string;
}

/** A log, folded. */
export interface State {
  /** How many facts were folded: the position of the last one. */
  readonly version: number;
  /** The estimated size of all folded facts as JSON, in bytes, by `weigh`. */
  readonly weight: number;
  /** How many of them changed what clients see: those that `toStreamResponse` shows, and `task-created`. */
  readonly generation: number;
  /** Position of the fact that set the status or the answer; 1 until there is one. */
  readonly statusVersion: number;
  readonly contextId: string;
  readonly createdAt: string;
  /** When the first message may be taken, if that is not at once. */
  readonly notBefore?: string;
  /** The time of the latest fact. Never goes back. */
  readonly at: string;
  readonly closed: boolean;
  readonly task?: TaskRecord;
  /** The agent's answer, if the log never became a task. */
  readonly answer?: Message;
  /** Client messages and agent status messages, in order, each `messageId` once. */
  readonly conversation: Conversation;
  /** The index in `conversation` of the current status' message; -1 if it has none. */
  readonly statusMessageAt: number;
  /** What the latest question says besides its message. Absent if it says nothing. */
  readonly question?: Question & { readonly messageId: string };
  /** Received messages that no turn has taken, oldest first. */
  readonly pending: readonly MessageReceived[];
  /** The messages of the latest turn. A turn that was woken without messages keeps those of the turn before. */
  readonly taken: readonly MessageReceived[];
  /** The turn that is running, or was running when its process died. */
  readonly openTurn?: OpenTurn;
  /** How many turns ever started. */
  readonly turns: number;
  readonly cancelRequested?: { readonly at: string; readonly metadata?: Metadata };
  /** A turn without a client's message was asked for and has not started yet. */
  readonly woken?: { readonly metadata?: Metadata };
  /** When the next turn starts without a message: ISO 8601, UTC, milliseconds. A turn that starts before clears it. */
  readonly wakeAt?: string;
  /** The latest turn that asked for a time that was not in the future, and how many in a row did. */
  readonly immediateWakes?: { readonly turn: number; readonly count: number };
  /** The tasks at other agents, by name. Look up with `Object.hasOwn`. */
  readonly children?: Readonly<Record<string, Child>>;
  /** What the agent keeps for its later turns. Absent if it never kept anything. No client sees it. */
  readonly agent?: AgentRecord;
  /** How many tokens its calls of models read and wrote. Absent if none reported any. */
  readonly tokens?: number;
  /** What they cost. Absent if none reported that. */
  readonly costs?: Costs | undefined;
  /** The skills that its messages named, each once. */
  readonly skills?: readonly string[];
  /** The words that it is found by, each once. Absent without any. */
  readonly labels?: readonly string[];
  /** Those among them with which it began: the agent cannot take them away. Absent without any. */
  readonly givenLabels?: readonly string[];
}

/** Whether a turn may take the message at this time (ISO 8601, UTC, milliseconds). */
export const isMessageDue = ({ notBefore }: MessageReceived, at: string): boolean =>
  notBefore === undefined || notBefore <= at;

/**
 * When the next turn of a task without a running turn may start: ISO 8601, UTC, milliseconds, or `''` for at once.
 * Undefined if there is nothing to start one for. The next attempt of a turn that is paused starts at its own time,
 * whatever comes meanwhile.
 */
export function nextTurnAt(state: State): string | undefined {
  const { openTurn, woken, wakeAt } = state;
  if (openTurn?.pausedUntil !== undefined) return openTurn.pausedUntil;
  if (woken) return '';
  let next = wakeAt;
  for (const { notBefore = '' } of waitingFor(state))
    if (next === undefined || notBefore < next) next = notBefore;
  return next;
}

/** What the answer by a link has for its `messageId`. The rest is the id of its callback. */
export const answerPrefix = 'answer-';

/**
 * The person who sent the message by a link; undefined for a message of a client. A client that has a link can read the id
 * of its callback: only a link gives a message the `answeredBy` of its caller.
 */
export function answererOf(
  { agent }: Pick<State, 'agent'>,
  { message: { messageId }, caller }: Pick<MessageReceived, 'message' | 'caller'>,
): string | undefined {
  if (!agent || !messageId.startsWith(answerPrefix)) return undefined;
  const by = callbackOf(agent, messageId.slice(answerPrefix.length))?.answers?.by;
  return caller?.answeredBy === by ? by : undefined;
}

/** Whose answer the task waits for; undefined if any message answers it. */
export const reservedFor = ({ task, question }: State): OnlyBy | undefined =>
  task?.status.state === 'TASK_STATE_INPUT_REQUIRED' ? question?.onlyBy : undefined;

/** The messages that wait for a turn. A reserved question does not wait for those that came without a link. */
export function waitingFor(state: State): readonly MessageReceived[] {
  const { pending } = state;
  const onlyBy = reservedFor(state);
  return onlyBy === undefined || pending.some((one) => isAnswer(state, onlyBy, one)) ? pending : [];
}

/** Whether the message is the answer of a person for whom the question is reserved. */
export function isAnswer(
  state: State,
  onlyBy: OnlyBy,
  received: Pick<MessageReceived, 'message' | 'caller'>,
): boolean {
  const by = answererOf(state, received);
  return by !== undefined && (onlyBy === 'link' || onlyBy.includes(by));
}

/** The result of a step of the open turn, or of one that is kept for the whole task; undefined if none of this name was completed. */
export function stepOf({ openTurn, agent }: State, name: string): StepResult | undefined {
  const ofTurn = resultIn(openTurn?.steps, name);
  if (ofTurn) return ofTurn;
  return agent && Object.hasOwn(agent.steps, name) ? { result: agent.steps[name] } : undefined;
}

/** A new state, before `evolve` returns it. */
export type Draft = { -readonly [Name in keyof State]: State[Name] };

/** The result of a completed step: JSON, `null` for a step without one. */
export interface StepResult {
  readonly result: unknown;
}

/**
 * Results of steps by name. They only grow: more of them share the map of those before, so that one more costs the same
 * however many there are.
 */
interface StepResults {
  readonly size: number;
  /** In the order of their completion. Those from `size` on belong to others that share the map. */
  readonly byName: Map<string, StepResult & { readonly index: number }>;
}

/** The result of this name, if there is one. */
function resultIn(results: StepResults | undefined, name: string): StepResult | undefined {
  if (!results) return undefined;
  const found = results.byName.get(name);
  return found && found.index < results.size ? found : undefined;
}

/** The results with one more. The first one of a name counts. */
export function addResult(results = noResults(), name: string, result: unknown): StepResults {
  if (resultIn(results, name)) return results;
  const { size } = results;
  // Where others grew from the same results already, these go on in a copy.
  const byName = results.byName.size === size ? results.byName : new Map(entriesOf(results));
  byName.set(name, { index: size, result });
  return { size: size + 1, byName };
}

/** The results as plain JSON. */
export const toRecord = (results = noResults()): Readonly<Record<string, unknown>> =>
  Object.fromEntries(entriesOf(results).map(([name, { result }]) => [name, result]));

/** The results of a record; undefined for one without any. */
export const toResults = (record: Readonly<Record<string, unknown>>): StepResults | undefined =>
  Object.entries(record).reduce<StepResults | undefined>(
    (results, [name, result]) => addResult(results, name, result),
    undefined,
  );

const noResults = (): StepResults => ({ size: 0, byName: new Map() });

const entriesOf = ({ size, byName }: StepResults) => [...byName].slice(0, size);
