import type { Artifact, Message, Part, TaskStatus } from '@batonjs/protocol';
import type { Conversation } from './conversation.ts';
import type { Child, MessageReceived, Metadata } from './facts.ts';
import type { List } from './list.ts';

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

/** A turn that started and has not ended. */
export interface OpenTurn {
  readonly number: number;
  readonly attempt: number;
  /** The messages it took, in this attempt and those before. */
  readonly messageIds: readonly string[];
  /** Those among them that an attempt took while it ran. Absent without any, and in snapshots of earlier releases. */
  readonly takenLater?: readonly string[];
  readonly startedAt: string;
  /** The time for which a turn before had asked, where this one started for something else and so took its place. */
  readonly replacedWake?: string;
  /** Results of completed steps, by name; `null` for a step without a result. Look up with `Object.hasOwn`: a name may be any text. */
  readonly steps: Readonly<Record<string, unknown>>;
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
  /** Received messages that no turn has taken, oldest first. */
  readonly untaken: readonly MessageReceived[];
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
  readonly hasty?: { readonly turn: number; readonly count: number };
  /** The tasks at other agents, by name. Look up with `Object.hasOwn`. */
  readonly children?: Readonly<Record<string, Child>>;
  /** The skills that its messages named, each once. */
  readonly skills?: readonly string[];
  /** The generation at which the latest message with a condition was accepted: another one for it comes too late. */
  readonly matched?: number;
}

/** Whether a turn may take the message at this time (ISO 8601, UTC, milliseconds). */
export const isRipe = ({ notBefore }: MessageReceived, at: string): boolean =>
  notBefore === undefined || notBefore <= at;

/**
 * When the next turn of a task without a running turn may start: ISO 8601, UTC, milliseconds, or `''` for at once.
 * Undefined if there is nothing to start one for.
 */
export function nextTurnAt({ untaken, woken, wakeAt }: State): string | undefined {
  if (woken) return '';
  let next = wakeAt;
  for (const { notBefore = '' } of untaken) if (next === undefined || notBefore < next) next = notBefore;
  return next;
}
