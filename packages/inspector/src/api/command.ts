import type { Part, Struct } from '@batonjs/protocol';

/** A message to send. */
export interface SendCommand {
  readonly parts: readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
  readonly references?: readonly string[];
  readonly metadata?: Struct;
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
