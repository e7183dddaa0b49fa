import type { Message } from '@batonjs/protocol';
import type { TaskUpdate, Turn } from '@batonjs/server';
import type { ModelMessage } from 'ai';
import { AI_SDK } from '../metadata.ts';
import type { PendingCall } from './pending-call.ts';

/** What a question keeps for the next turn: the messages of this turn's model, and its calls without a result. */
export interface Kept {
  readonly messages: readonly ModelMessage[];
  readonly pending: readonly PendingCall[];
  /** The id of the latest message that the turn took. `messages` do not answer those that came after it. */
  readonly until: string;
  readonly given: Given;
}

/** What a question keeps that was asked again: the answer with this id, and those before it, were none. */
export interface AskedAgain {
  readonly isAgain: true;
  readonly until: string;
}

/** What the turns of a task have put into its artifacts, so that the next turn goes on there. */
export interface Given {
  /** How many artifacts `file-1`, `file-2` … there are. */
  readonly files: number;
  /** They become an artifact when the task completes. */
  readonly sources: readonly object[];
  /** The lengths of the texts, in UTF-16 code units, by the names of their artifacts. */
  readonly texts: Readonly<Record<string, number>>;
}

/**
 * The update with what its message keeps, in one commit: in the memory of the task, which no client sees. As a copy: the
 * stream may go on.
 */
export const keeping = (update: TaskUpdate, { messageId }: Message, kept: Kept | AskedAgain): TaskUpdate => ({
  ...update,
  memory: { [keyOf(messageId)]: JSON.parse(JSON.stringify(kept)) },
});

/** What a message of the agent keeps; undefined if it keeps nothing. */
export const keptBy = ({ messageId }: Message, memory: Turn['memory']): Kept | AskedAgain | undefined =>
  memory.get<Kept | AskedAgain>(keyOf(messageId));

/** Whether the agent wrote the message about its tools, for people. */
export const isAboutTools = ({ metadata }: Message): boolean => metadata?.[AI_SDK] !== undefined;

const keyOf = (messageId: string): string => `${AI_SDK} ${messageId}`;
