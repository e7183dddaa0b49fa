import { inputRequired as formRequired } from '@batonjs/extensions';
import type { Form } from '@batonjs/extensions/client';
import { askedIn } from '@batonjs/extensions/internals';
import type { Json, Message } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { inputRequired, type TaskUpdate, type Turn } from '@batonjs/server';
import { type Elicitation, fieldsOf, formOf } from './elicitation.ts';
import { responseOf } from './response-of.ts';
import { ToolError } from './tool-error.ts';

/** The name in the metadata of a question under which the call that asked it stands. */
const PENDING = 'batonjs.dev/mcp-call';

/** A call that waits for answers, as the question to the user carries it into the next turn. */
export interface PendingCall {
  readonly step: string;
  readonly args: unknown;
  /** How often the server asked in this call. */
  readonly round: number;
  /** What the server wants back, unread. */
  readonly requestState?: string;
  readonly requests: Readonly<Record<string, Elicitation>>;
  readonly responses: Readonly<Record<string, unknown>>;
  /** Whether a task at the server asks, whose id is in the memory: clients see these members. */
  readonly ofTask?: true;
}

/** What a server sent, before it is checked. */
type Members = Readonly<Record<string, unknown>>;

/** The questions of an MCP server in a result; undefined if it is a result of the tool. */
export function pendingIn(
  tool: string,
  call: Pick<PendingCall, 'step' | 'args' | 'round' | 'ofTask'>,
  result: object,
): PendingCall | undefined {
  const { resultType, inputRequests, requestState }: Members = Object(result);
  if (resultType !== 'input_required') return undefined;
  const entries = Object.entries<unknown>(Object(inputRequests));
  const requests = entries.map(([key, request]) => {
    const { method, params }: Members = Object(request);
    if (method !== 'elicitation/create')
      throw new ToolError(tool, `The tool "${tool}" asks for ${String(method)}, which a task cannot give`);
    const { message, requestedSchema, url }: Members = Object(params);
    const asked: Elicitation = {
      message: String(message),
      ...(typeof url === 'string' ? { url } : { requestedSchema: Object(requestedSchema) }),
    };
    return [key, asked] as const;
  });
  return {
    ...call,
    requests: Object.fromEntries(requests),
    responses: {},
    ...(typeof requestState === 'string' && { requestState }),
  };
}

/** The name of the next request without an answer. */
export const openRequest = ({ requests, responses }: PendingCall): string | undefined =>
  Object.keys(requests).find((key) => !Object.hasOwn(responses, key));

/** Asks the user. The question carries the call, so that it goes on in any process. */
export function ask(turn: Turn, pending: PendingCall): TaskUpdate {
  const asked = pending.requests[openRequest(pending)!]!;
  const form = formOf(asked);
  const update = form
    ? askedIn(turn, formRequired(asked.message, { form: form.type }))
    : { ...inputRequired(questionOf(asked)), ...(!hasFields(asked) && { form: decision }) };
  if ('status' in update && update.status.message)
    update.status.message.metadata = { [PENDING]: pending as unknown as Json };
  return update;
}

const hasFields = (asked: Elicitation): boolean => Object.keys(fieldsOf(asked)).length > 0;

/** How people answer a question without fields who are asked elsewhere than at the client. */
const decision: Form & { isOwn: true } = {
  formId: 'decision',
  schema: {
    type: 'object',
    properties: { action: { enum: ['accept', 'decline'], title: 'Your decision' } },
    required: ['action'],
  },
  isOwn: true,
};

/** The question as text. One without fields says what it takes for an answer. */
function questionOf(asked: Elicitation): string {
  const { message, url } = asked;
  if (hasFields(asked)) return message;
  return [message, ...(url === undefined ? [] : [url]), 'Answer yes or no.'].join('\n');
}

/**
 * The call of this step with these arguments that a question of the task carries, with the user's answer to it. An
 * answer stays with its call in later turns: the user is not asked again.
 */
export function pendingOf({ messages }: Turn, step: string, args: unknown): PendingCall | undefined {
  const carried = (message: Message | undefined) => message?.metadata?.[PENDING] as PendingCall | undefined;
  const isCarrier = (message: Message) => message.role === 'ROLE_AGENT' && carried(message)?.step === step;
  const index = messages.findLastIndex(isCarrier);
  const pending = carried(messages[index]);
  if (!pending || JSON.stringify(pending.args) !== JSON.stringify(args)) return undefined;
  const key = openRequest(pending);
  if (key === undefined) return pending;
  const response = responseOf(answersTo(messages, index), pending.requests[key]!);
  return response ? { ...pending, responses: { ...pending.responses, [key]: response } } : pending;
}

/** The messages of the user after a question. A form that was filled in wrongly is asked again, with the same id. */
function answersTo(messages: readonly Message[], index: number): readonly Message[] {
  const formId = formIdOf(messages[index]!);
  const isQuestion = (message: Message) => message.role === 'ROLE_AGENT' && formIdOf(message) === formId;
  const last = formId === undefined ? index : messages.findLastIndex(isQuestion);
  const after = messages.slice(last + 1);
  const end = after.findIndex(({ role }) => role === 'ROLE_AGENT');
  return end < 0 ? after : after.slice(0, end);
}

const formIdOf = ({ parts }: Message): unknown =>
  parts
    .map((part) => ('data' in part && isObject(part.data) ? part.data.formId : undefined))
    .find((id) => id !== undefined);
