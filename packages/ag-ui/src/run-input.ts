import type { Json } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';

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

export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** An answer to an interrupt. */
export interface Resume {
  readonly interruptId: string;
  readonly status: 'resolved' | 'cancelled';
  readonly payload?: Json;
}

/** What a front end sends to run an agent. */
export type RunInput = Readonly<ReturnType<typeof readRunInput>>;

/** Reads the body of a run. Throws `INVALID_PARAMS` for a body that is none. Members that are not known are dropped. */
export function readRunInput(body: unknown) {
  const input: Record<string, Json | undefined> = Object(body);
  const messages: readonly AgUiMessage[] = listIn(input, 'messages').map(readMessage);
  const resume: readonly Resume[] | undefined =
    input.resume === undefined ? undefined : listIn(input, 'resume').map(readResume);
  return {
    threadId: textIn(input, 'threadId'),
    runId: textIn(input, 'runId'),
    messages,
    tools: input.tools === undefined ? [] : listIn(input, 'tools'),
    context: input.context === undefined ? [] : listIn(input, 'context'),
    state: input.state,
    forwardedProps: input.forwardedProps,
    resume: resume?.length ? resume : undefined,
    /** Whether the front end speaks AG-UI 1.0 or newer. */
    isModern: typeof input.protocolVersion === 'string' && !input.protocolVersion.startsWith('0'),
  };
}

const invalid = (member: string, what: string) => new A2AError('INVALID_PARAMS', `\`${member}\` is ${what}`);

function textIn(input: Readonly<Record<string, Json | undefined>>, member: string): string {
  const value = input[member];
  if (typeof value !== 'string' || value === '') throw invalid(member, 'a text that is not empty');
  return value;
}

function listIn(input: Readonly<Record<string, Json | undefined>>, member: string): readonly Json[] {
  const value = input[member];
  if (!Array.isArray(value)) throw invalid(member, 'a list');
  return value;
}

function readMessage(value: Json): AgUiMessage {
  const { id, role, content, toolCalls, toolCallId, error }: Record<string, Json | undefined> = Object(value);
  if (typeof id !== 'string' || typeof role !== 'string') throw invalid('messages', 'a list of messages');
  return {
    id,
    role,
    content,
    ...(Array.isArray(toolCalls) && { toolCalls: toolCalls.map(readToolCall) }),
    ...(typeof toolCallId === 'string' && { toolCallId }),
    ...(typeof error === 'string' && { error }),
  };
}

function readToolCall(value: Json): NonNullable<AgUiMessage['toolCalls']>[number] {
  const { id, function: called }: Record<string, Json | undefined> = Object(value);
  const { name, arguments: given }: Record<string, Json | undefined> = Object(called);
  if (typeof id !== 'string' || typeof name !== 'string') throw invalid('messages', 'a list of messages');
  return { id, type: 'function', function: { name, arguments: typeof given === 'string' ? given : '{}' } };
}

function readResume(value: Json): Resume {
  const { interruptId, status, payload }: Record<string, Json | undefined> = Object(value);
  if (typeof interruptId !== 'string' || (status !== 'resolved' && status !== 'cancelled'))
    throw invalid('resume', 'a list of answers to interrupts');
  return { interruptId, status, ...(payload !== undefined && { payload }) };
}
