import type { Json, Message, Part } from '@batonjs/protocol';
import type { GatewayError, GatewayForm } from './gateway-task.ts';

/** The member of a status message's metadata that holds the gateway's note. */
const NOTE = 'https://batonjs.dev/task-gateway/v1';

/** What the gateway keeps of a status besides its text. */
export interface Note {
  /** The task at the agent. */
  readonly agentTaskId?: string;
  readonly progress?: number;
  readonly result?: Json;
  readonly error?: GatewayError;
  readonly form?: GatewayForm;
  readonly question?: QuestionName;
}

/** Names the question that a task waits with, however often it is written. */
export interface QuestionName {
  /** Differs for each question. */
  readonly id: string;
  /** The agent's own name for this status. Undefined if that cannot be told from another status. */
  readonly status?: string;
}

/** A status message with a note. */
export const noteMessage = (text: string, note: Note): Message => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_AGENT',
  // A message has at least one part.
  parts: [text === '' ? emptyPart : { text }],
  metadata: { [NOTE]: JSON.parse(JSON.stringify(note)) },
});

const emptyPart: Part = { data: {} };

/** The note in a status message; an empty one if the server wrote the message. */
export const noteIn = (message: Message | undefined): Note => (message?.metadata?.[NOTE] ?? {}) as Note;
