import type { Artifact, Message, Part, TaskStatus } from '@batonjs/protocol';
import type { Conversation } from './conversation.ts';
import type { MessageReceived, Metadata } from './facts.ts';
import type { List } from './list.ts';

/** An artifact as it is folded: the parts apart, so that a chunk is added without copying those before it. */
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
  readonly startedAt: string;
  /** Results of completed steps, by name: any name, so look with `Object.hasOwn`. `null` for a step without a result. */
  readonly steps: Readonly<Record<string, unknown>>;
}

/** The result of folding a log. */
export interface State {
  /** How many facts were folded: the position of the last one. */
  readonly version: number;
  /** The size of the folded facts together, in bytes, as `weigh` estimates it. */
  readonly weight: number;
  /** How many of them changed what clients see: those that `toStreamResponse` shows, and `task-created`. */
  readonly generation: number;
  /** Position of the fact that set the status or the answer; 1 until there is one. */
  readonly statusVersion: number;
  readonly contextId: string;
  readonly createdAt: string;
  /** The time of the latest fact. Never goes back. */
  readonly at: string;
  readonly closed: boolean;
  readonly task?: TaskRecord;
  /** How the log was answered if it never became a task. */
  readonly answer?: Message;
  /** Client messages and agent status messages, in order, each `messageId` once. */
  readonly conversation: Conversation;
  /** The index in `conversation` of the current status' message; -1 if it has none. */
  readonly statusMessageAt: number;
  /** Received messages that no turn has taken, oldest first. */
  readonly untaken: readonly MessageReceived[];
  /** The messages the latest turn took; those of the turn before if it took none, being woken. */
  readonly taken: readonly MessageReceived[];
  /** The turn that is running, or was running when its process died. */
  readonly openTurn?: OpenTurn;
  /** How many turns ever started. */
  readonly turns: number;
  readonly cancelRequested?: { readonly at: string; readonly metadata?: Metadata };
  /** The application asked for a turn that has not started yet. */
  readonly woken?: { readonly metadata?: Metadata };
}
