import type { Message } from '@batonjs/protocol';
import type { JSONValue, ToolModelMessage } from 'ai';
import type { PendingCall } from './pending-call.ts';

type Answer = ToolModelMessage['content'][number];
type Output = Extract<Answer, { type: 'tool-result' }>['output'];

/**
 * The user's answers to calls that wait, as a model reads them. An approval needs a yes: everything else denies, with the
 * text of the user as the reason. Without messages, the user has not answered: that denies, too.
 */
export function answersTo(pending: readonly PendingCall[], messages: readonly Message[]): ToolModelMessage {
  const values = valuesIn(messages);
  const text = messages
    .flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? [part.text] : [])))
    .join('\n')
    .trim();
  // The user was asked the other agent's question, not this.
  const isOther = pending.some(({ needs }) => needs === 'answer');
  const outputs = pending.filter(({ needs }) => needs === 'output');
  const isUnanswered = messages.length === 0;
  const content = pending.map((call): Answer => {
    const value = Object.hasOwn(values, call.toolCallId) ? values[call.toolCallId] : undefined;
    if (call.needs === 'answer') return approval(call.toolCallId, true);
    if (call.needs === 'approval') {
      const { approved, reason } = isOther
        ? { approved: false, reason: 'The user was not asked yet' }
        : isUnanswered
          ? { approved: false, reason: unanswered }
          : decisionOf(value ?? ('approved' in values ? values : undefined), text);
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

const unanswered = 'The user has not answered yet';

const approval = (approvalId: string, approved: boolean, reason?: string): Answer => ({
  type: 'tool-approval-response',
  approvalId,
  approved,
  ...(reason && { reason }),
});

const yes: ReadonlySet<string> = new Set(['yes', 'y', 'ok', 'approve', 'approved', 'allow']);
const no: ReadonlySet<string> = new Set(['no', 'n', 'deny', 'denied', 'reject', 'rejected']);

function decisionOf(value: unknown, text: string): { approved: boolean; reason?: string } {
  if (typeof value === 'boolean') return { approved: value };
  if (typeof value === 'object' && value !== null) {
    const { approved, reason } = value as { approved?: unknown; reason?: unknown };
    return { approved: approved === true, ...(typeof reason === 'string' && reason && { reason }) };
  }
  const word = text.toLowerCase();
  if (value === undefined && yes.has(word)) return { approved: true };
  return { approved: false, ...(text && !no.has(word) && { reason: text }) };
}

const outputOf = (value: unknown, text: string): Output =>
  value === undefined ? { type: 'text', value: text } : { type: 'json', value: value as JSONValue };

/** The members of all data parts, later ones winning; of an answer to a form, those of its values. */
function valuesIn(messages: readonly Message[]): Readonly<Record<string, unknown>> {
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
