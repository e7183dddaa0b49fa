import type { Message } from '@batonjs/protocol';
import { yesOrNo } from '@batonjs/protocol/forms';
import type { JSONValue, ToolModelMessage } from 'ai';
import type { PendingCall } from './pending-call.ts';

type Answer = ToolModelMessage['content'][number];
type Output = Extract<Answer, { type: 'tool-result' }>['output'];

/**
 * The user's answers to calls that wait, as a model reads them. Without messages, the user has not answered: that denies.
 * `words`: those of the messages whose text counts, the ones that came after the question was asked for the last time.
 */
export function answersTo(
  pending: readonly PendingCall[],
  messages: readonly Message[],
  words: readonly Message[] = messages,
): ToolModelMessage {
  const values = valuesIn(messages);
  const text = textOf(words);
  // The user was asked the other agent's question, not this.
  const isOther = pending.some(({ needs }) => needs === 'answer');
  const outputs = pending.filter(({ needs }) => needs === 'output');
  const isUnanswered = words.length === 0;
  const content = pending.map((call): Answer => {
    const value = valueAbout(call, values);
    if (call.needs === 'answer') return approval(call.toolCallId, true);
    if (call.needs === 'approval') {
      const { approved, reason } = isOther
        ? { approved: false, reason: 'The user was not asked yet' }
        : (decisionOf(call, values, text) ?? { approved: false, reason: isUnanswered ? unanswered : text });
      return approval(call.approvalId ?? call.toolCallId, approved, reason);
    }
    const { toolCallId, toolName } = call;
    const only = outputs.length === 1 && Object.keys(values).length > 0 ? values : undefined;
    const output: Output = isUnanswered
      ? { type: 'error-text', value: unanswered }
      : outputOf(value ?? only, text);
    return { type: 'tool-result', toolCallId, toolName, output };
  });
  return { role: 'tool', content };
}

/** Whether the user said something that neither approves nor denies a call which needs that. */
export function isUndecided(
  pending: readonly PendingCall[],
  messages: readonly Message[],
  words: readonly Message[],
): boolean {
  if (words.length === 0 || pending.some(({ needs }) => needs === 'answer')) return false;
  const [values, text] = [valuesIn(messages), textOf(words)];
  return pending.some((call) => call.needs === 'approval' && !decisionOf(call, values, text));
}

const unanswered = 'The user has not answered yet';

const textOf = (messages: readonly Message[]): string =>
  messages
    .flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? [part.text] : [])))
    .join('\n')
    .trim();

const approval = (approvalId: string, approved: boolean, reason?: string): Answer => ({
  type: 'tool-approval-response',
  approvalId,
  approved,
  ...(reason && { reason }),
});

type Values = Readonly<Record<string, unknown>>;

const valueAbout = ({ toolCallId }: PendingCall, values: Values): unknown =>
  Object.hasOwn(values, toolCallId) ? values[toolCallId] : undefined;

/** What the user decided about a call, by data about it or about all, else in words; undefined if that is neither yes nor no. */
function decisionOf(
  call: PendingCall,
  values: Values,
  text: string,
): { readonly approved: boolean; readonly reason?: string } | undefined {
  const value = valueAbout(call, values) ?? ('approved' in values ? values : undefined);
  const { approved = value, reason } = Object(value) as {
    readonly approved?: unknown;
    readonly reason?: unknown;
  };
  if (typeof approved === 'boolean') return { approved, ...(typeof reason === 'string' && { reason }) };
  const said = value === undefined || value === null ? yesOrNo(text) : undefined;
  if (said === undefined) return undefined;
  return { approved: said, ...(!said && !isBare(text) && { reason: text }) };
}

/** Whether a no is a word alone: it tells a model nothing more. */
const isBare = (text: string): boolean => !/\s/.test(text);

const outputOf = (value: unknown, text: string): Output =>
  value === undefined ? { type: 'text', value: text } : { type: 'json', value: value as JSONValue };

/** The members of all data parts, later ones winning; of an answer to a form, those of its values. */
function valuesIn(messages: readonly Message[]): Values {
  const values: Record<string, unknown> = {};
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (!('data' in part) || typeof part.data !== 'object' || part.data === null || Array.isArray(part.data))
      continue;
    const { formId, values: inner } = part.data as { formId?: unknown; values?: unknown };
    const given = formId !== undefined && typeof inner === 'object' && inner !== null ? inner : part.data;
    for (const [name, value] of Object.entries(given))
      Object.defineProperty(values, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return values;
}
