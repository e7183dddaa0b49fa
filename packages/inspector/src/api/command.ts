import type { Part, Struct } from '@batonjs/protocol';

export interface SendCommand {
  readonly parts: readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
  readonly references?: readonly string[];
  /** That of the request. */
  readonly metadata?: Struct;
  /** The name of the viewer, in the metadata of the message. */
  readonly sentBy?: string;
}

/** The member of a message's metadata in which the inspector says who sent it: `{ sentBy }`, the name of the viewer. */
export const INSPECTOR = 'https://batonjs.dev/inspector/v1';

/** The address at which one person answers a question, without the inspector. */
export interface AnswerLink {
  readonly url: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** What a sent message led to. */
export interface Sent {
  readonly taskId?: string;
  /** The agent's answer, if it made no task. */
  readonly message?: { readonly parts: readonly Part[]; readonly contextId?: string };
}

/** An error as the app shows it. */
export interface Problem {
  /** One sentence. */
  readonly message: string;
  /** The reason of the protocol's error or the code of the client's. */
  readonly code?: string;
  readonly details?: unknown;
}
