import type { Message, SendMessageRequest } from '@batonjs/protocol';
import type { Claims } from './agent.ts';

/** The caller of a request, as `authenticate` returned it. */
export interface Caller {
  /** Names the caller, or the group whose tasks are shared: a caller with another scope sees none of its tasks. Never empty. */
  readonly scope: string;
  /** Non-secret facts for the agent; stored with the message. */
  readonly claims?: Claims;
  /** The security schemes of the card that the caller satisfied, by name. Undefined: not known. */
  readonly schemes?: readonly string[];
  /** What the caller may do, in the words of the card's security schemes. Skills may require some. */
  readonly scopes?: readonly string[];
}

/**
 * Finds the id of the skill that a message is for; undefined if the message does not say. `extensions`: the URIs of the
 * extensions that are active for it.
 */
export type SkillOf = (request: SendMessageRequest, extensions: readonly string[]) => string | undefined;

/** The labels of the task that a message starts; undefined for none. `caller`: what `authenticate` returned. */
export type LabelsOf = (message: Message, caller: Caller | undefined) => readonly string[] | undefined;

/** How messages are taken, and shown, with the defaults. */
export const messageOptions = {
  /**
   * Whether a message that starts a task may be repeated: the same `messageId` of the same caller then returns the task
   * that it started, and is refused with other content (`MESSAGE_ID_CONFLICT`). Default: for authenticated callers.
   * Messages to an existing task can always be repeated: a task has one message of an id.
   */
  idempotency: 'authenticated' as boolean | 'authenticated',
  /**
   * The labels with which the task of a message begins: at most 16 texts of 1 to 64 characters. They stay:
   * `labels` of the agent add to them. Throws or returns others: the message is refused, and the logger gets the reason.
   */
  labelsOf: undefined as LabelsOf | undefined,
  /** Whether `history` ends in the message of the current status. Default false. */
  currentStatusInHistory: false,
};

export type MessageOptions = Readonly<typeof messageOptions>;
