import type { Json } from '@batonjs/protocol';

/** A message of AG-UI, as far as this package writes or reads it. */
export interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: Json | undefined;
  readonly toolCalls?: readonly AgUiToolCall[];
  readonly toolCallId?: string;
  readonly error?: string;
}

/** A call of a tool in a message of the assistant. */
export interface AgUiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A question that a run ends with. */
export interface Interrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  readonly responseSchema?: object;
  readonly metadata?: object;
}

/** An event of a run. */
export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;
