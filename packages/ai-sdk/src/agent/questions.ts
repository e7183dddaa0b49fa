import { FORM_INPUT, FORM_TYPE } from '@batonjs/extensions/client';
import type { Message, Part } from '@batonjs/protocol';
import { data, inputRequired, type Metadata, type TaskUpdate, type Turn, text } from '@batonjs/server';
import { type Kept, keeping } from '../history/kept-messages.ts';
import type { PendingCall } from '../history/pending-call.ts';
import { AI_SDK } from '../metadata.ts';

/** How much of an input the text of a question shows, in characters. The data part has all of it. */
const mostShown = 500;

/** The words of a question for people. */
export type QuestionText = (pending: readonly PendingCall[]) => string;

/** Asks whether calls may run, or what they give: as text, as data, and as a form where the client takes forms. */
export function questionOf(
  kept: Kept,
  turn: Turn,
  metadata: Metadata | undefined,
  wording: QuestionText = wordsFor,
): TaskUpdate {
  const { pending } = kept;
  const toolCalls = pending.map(({ toolCallId, toolName, input, needs, reason }) => ({
    toolCallId,
    toolName,
    input,
    needs,
    ...(reason && { reason }),
  }));
  const isForm = turn.extensions.includes(FORM_INPUT);
  const parts: Part[] = [text(wording(pending)), data({ toolCalls }, { mediaType: 'application/json' })];
  if (isForm) parts.push(data(formFor(pending), { mediaType: FORM_TYPE }));
  const message: Message = {
    messageId: crypto.randomUUID(),
    role: 'ROLE_AGENT',
    parts,
    metadata: { [AI_SDK]: {} },
    ...(isForm && { extensions: [FORM_INPUT] }),
  };
  return keeping(inputRequired(message, metadata), message, kept);
}

const wordsFor: QuestionText = (pending) =>
  pending
    .map(({ toolName, input, needs, reason }) => {
      const json = JSON.stringify(input) ?? '';
      const shown = json.length > mostShown ? `${json.slice(0, mostShown)}…` : json;
      const why = reason ? ` (${reason})` : '';
      return needs === 'approval'
        ? `May the tool "${toolName}" run with ${shown}?${why}`
        : `What does "${toolName}" give for ${shown}?`;
    })
    .join('\n');

/** A form with a field for each call, named by its id. */
function formFor(pending: readonly PendingCall[]) {
  const fields = pending.map(({ toolCallId, toolName, needs }) => [
    toolCallId,
    needs === 'approval' ? { type: 'boolean', title: `Allow "${toolName}"` } : { title: toolName },
  ]);
  return {
    formId: crypto.randomUUID(),
    title: 'Tools',
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields),
      required: pending.map(({ toolCallId }) => toolCallId),
      additionalProperties: false,
    },
  };
}
