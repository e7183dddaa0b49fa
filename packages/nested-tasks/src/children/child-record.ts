import { createHash } from 'node:crypto';
import type { AgentReply } from '@batonjs/client';
import type { Child } from '@batonjs/lifecycle';
import type { Message, Struct } from '@batonjs/protocol';

/** What the log of the parent keeps of a child, so that a later turn or attempt goes on with it. */
export interface ChildRecord {
  /** Where the agent is: its name in `agents`, or its URL. */
  readonly at: string;
  /** When the call began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The message that starts the child, until the agent is known to have received it. */
  readonly message?: Message | undefined;
  /** The metadata of its request. */
  readonly metadata?: Struct | undefined;
  /** The event up to which the child was read; undefined if its agent sends no positions. */
  readonly position?: string | undefined;
  /** The id of the child's status message that was passed on last. */
  readonly said?: string | undefined;
  readonly progress?: { readonly progress: number; readonly total: number } | undefined;
  /** How many questions of the child were passed on. */
  readonly questions?: number | undefined;
  /** The id of the child's message with the latest of them. */
  readonly asked?: string | undefined;
  /** The id of the message of this task that passed it on. */
  readonly question?: string | undefined;
  /** The id of the latest message of this task that the child got in answer to it. */
  readonly answered?: string | undefined;
  /** What the agent itself answered to the child's message of this id. */
  readonly own?: { readonly to: string | undefined; readonly message: Pick<Message, 'parts'> } | undefined;
  /** How the child ended, unless that is too large to be kept twice. */
  readonly reply?: AgentReply | undefined;
}

export interface RecordedChild extends Child {
  readonly record: ChildRecord;
}

/** The child of this name, as the log has it. */
export const childIn = (
  children: Readonly<Record<string, Child>>,
  name: string,
): RecordedChild | undefined =>
  Object.hasOwn(children, name) ? (children[name] as RecordedChild) : undefined;

/** Whether the child has ended, as far as the log knows. */
export const hasEnded = ({ state = '' }: { readonly state?: string | undefined }): boolean =>
  /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state);

/** An id that every attempt in every process derives alike, and that no other task has. */
export const derivedId = (taskId: string, ...names: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify(['nested-tasks', taskId, ...names]))
    .digest('hex')
    .slice(0, 32);
