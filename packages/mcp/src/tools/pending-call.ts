import { inputRequired as formRequired } from '@batonjs/extensions';
import type { Form } from '@batonjs/extensions/client';
import { askedIn, type ReadSchema, readJsonSchema } from '@batonjs/extensions/internals';
import type { Json, Message } from '@batonjs/protocol';
import { type FormField, fieldsOf as formFields } from '@batonjs/protocol/form-fields';
import { yesOrNo } from '@batonjs/protocol/forms';
import { isObject } from '@batonjs/protocol/json';
import { textOf } from '@batonjs/protocol/parts';
import { inputRequired, type TaskUpdate, type Turn } from '@batonjs/server';
import { z } from 'zod';
import { ToolError } from './mcp-client.ts';

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

/** What the user answered, as an MCP server reads it. */
export interface ElicitResponse {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/**
 * The answer of the user to a question of an MCP server. Undefined if it does not fit what was asked.
 *
 * A data part with an `action` decides. Otherwise a text that is only a no declines, unless it is a value of the field
 * that was asked for, and a question without fields is accepted with a yes.
 */
function responseOf(answers: readonly Message[], asked: Elicitation): ElicitResponse | undefined {
  if (answers.length === 0) return undefined;
  const fields = fieldsOf(asked);
  const names = Object.keys(fields);
  const data = dataIn(answers);
  // Where a field has this name, the member is its value.
  const chosen = Object.hasOwn(fields, 'action') ? undefined : data.findLast(hasAction);
  if (chosen?.action === 'decline' || chosen?.action === 'cancel') return { action: chosen.action };
  const texts = textsIn(answers);
  const said = texts.map(yesOrNo);
  const isYes = chosen !== undefined || (said.length > 0 && said.every((each) => each === true));
  const isNo = said.includes(false);
  if (names.length === 0) {
    if (isNo && !chosen) return { action: 'decline' };
    if (!isYes) return undefined;
    return { action: 'accept', ...(asked.url === undefined && { content: {} }) };
  }
  const values: Record<string, unknown> = Object.assign(
    {},
    ...data.map((each) => (each === chosen ? Object(each.content) : each)),
  );
  const isFilled = () => names.some((name) => Object.hasOwn(values, name));
  if (!isFilled() && texts.length > 0) {
    // A question with one field can be answered with text.
    const [field] = names.length === 1 ? formFields(Object(asked.requestedSchema)) : [];
    const value = field && fromText(field, texts.join('\n'));
    if (value === undefined && isNo) return { action: 'decline' };
    if (value !== undefined) values[names[0]!] = value;
  }
  // A form whose fields are all optional is not accepted with words or members that fill none of them.
  const isEmptyForm = data.length > 0 && Object.keys(values).length === 0;
  if (!isFilled() && !isYes && !isEmptyForm) return undefined;
  const schema = formOf(asked);
  return !schema?.check(values) ? { action: 'accept', content: values } : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** The value that a text gives a field. Undefined for a no that is not among its choices. */
function fromText({ kind, options, schema: { type } }: FormField, text: string): unknown {
  const said = yesOrNo(text);
  // Who declines gives no value.
  if (/^declined?\W*$/i.test(text)) return undefined;
  if (type === 'boolean') return /^(true|false)$/i.test(text) ? /^t/i.test(text) : said;
  // Words with a reason may be what was asked for.
  if (said === false && !/\s/.test(text) && !options.some(({ value }) => value === text)) return undefined;
  return kind === 'number' ? Number(text) : text;
}

const dataIn = (messages: readonly Message[]): Fields[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => ('data' in part && isObject(part.data) ? [part.data] : [])),
  );

/** The text of each message, without the empty ones. */
const textsIn = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) => textOf(message).trim() || []);

const hasAction = ({ action }: Fields): boolean =>
  action === 'accept' || action === 'decline' || action === 'cancel';

/** A form or an address that an MCP server asks the user with. Spec: MCP 2026-07-28, Elicitation. */
interface Elicitation {
  readonly message: string;
  readonly requestedSchema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
}

/** The fields that a server asks for, each with its schema. A question without fields is one for a yes. */
const fieldsOf = ({ requestedSchema }: Elicitation): Readonly<Record<string, unknown>> =>
  Object(requestedSchema?.properties);

/**
 * The schema of a form, without patterns: they are programs of another party. Undefined if it cannot be read or has no fields.
 */
function formOf(asked: Elicitation): (ReadSchema & { readonly type: z.ZodObject }) | undefined {
  if (Object.keys(fieldsOf(asked)).length === 0) return undefined;
  const read = readJsonSchema(asked.requestedSchema);
  return read?.type instanceof z.ZodObject ? { ...read, type: read.type } : undefined;
}
