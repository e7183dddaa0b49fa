import { FORM_INPUT, FORM_TYPE } from '@batonjs/extensions/client';
import { askedIn, asOwn } from '@batonjs/extensions/internals';
import type { Message } from '@batonjs/protocol';
import { data, inputRequired, type Metadata, type TaskUpdate, type Turn, text } from '@batonjs/server';
import type { PendingCall } from '../history/pending-call.ts';
import { type Kept, keeping } from '../history/task-messages.ts';
import { AI_SDK } from '../metadata.ts';

/** How much of an input the text of a question shows, in characters. The data part has all of it. */
const mostShown = 500;

/** The words of a question for people. */
export type QuestionText = (pending: readonly PendingCall[]) => string;

/** Asks whether calls may run, or what they give: as text, as data, and as a form. */
export function questionOf(
  kept: Kept,
  turn: Turn,
  metadata: Metadata | undefined,
  wording: QuestionText = wordsFor,
): TaskUpdate {
  const message = messageFor(kept.pending, wording(kept.pending));
  return keeping(askedIn(turn, inputRequired(message, metadata)), message, kept);
}

/** Asks the same again, after words that were neither a yes nor a no. */
export function questionAgain(
  pending: Kept['pending'],
  turn: Turn,
  wording: QuestionText = wordsFor,
): TaskUpdate {
  const message = messageFor(pending, `Please answer yes or no.\n${wording(pending)}`);
  const until = turn.message.messageId;
  return keeping(askedIn(turn, inputRequired(message)), message, { isAgain: true, until });
}

function messageFor(pending: readonly PendingCall[], words: string): Message {
  const toolCalls = pending.map(({ toolCallId, toolName, input, needs, reason }) => ({
    ...{ toolCallId, toolName, input, needs },
    ...(reason && { reason }),
  }));
  return {
    messageId: crypto.randomUUID(),
    role: 'ROLE_AGENT',
    parts: [
      text(words),
      data({ toolCalls }, { mediaType: 'application/json' }),
      data(asOwn(formFor(pending)), { mediaType: FORM_TYPE }),
    ],
    metadata: { [AI_SDK]: {} },
    extensions: [FORM_INPUT],
  };
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

export type PendingQuestions = ReturnType<typeof pendingQuestionsOf>;

/**
 * The calls of tools that wait for an answer to another agent, until all other calls of the step have ended. `resumed` has
 * the names of the calls with which the kept messages end: nothing has changed since for them.
 */
export function pendingQuestionsOf(turn: Turn, resumed: ReadonlyMap<string, string>) {
  const uses = new Map<string, number>();
  const asking = new Map<string, PromiseWithResolvers<void>>();
  let expected: readonly string[] = [];
  let changed = () => {};

  /** The name of the first call with this id. Some models give the ids of one answer again in the next turn. */
  function callOf(toolCallId: string): string {
    const { messageId } = turn.message;
    return resumed.get(toolCallId) ?? `${messageId.slice(-90)} ${toolCallId.slice(-90)}`;
  }

  return {
    nameOf(toolCallId: string): string {
      const use = (uses.get(toolCallId) ?? 0) + 1;
      uses.set(toolCallId, use);
      return use === 1 ? callOf(toolCallId) : `${callOf(toolCallId)} (${use})`;
    },
    callOf,
    /** Which calls the latest answer of the model makes. */
    expect(toolCallIds: readonly string[]): void {
      expected = toolCallIds;
    },
    /** Calls `listener` when another call asks. */
    onChange(listener: () => void): void {
      changed = listener;
    },
    ask(toolCallId: string): Promise<void> {
      if (resumed.has(toolCallId)) return Promise.resolve();
      const kept = asking.get(toolCallId) ?? Promise.withResolvers<void>();
      asking.set(toolCallId, kept);
      changed();
      return kept.promise;
    },
    /** Whether the call asks. */
    asks: (toolCallId: string): boolean => asking.has(toolCallId),
    /** Whether some call asks, and none of the others can go on: all were read, and those that `isOpen` says ask too. */
    isDue: (wasRead: (toolCallId: string) => boolean, open: readonly string[]): boolean =>
      asking.size > 0 && expected.every(wasRead) && open.every((id) => asking.has(id)),
    /** Lets this task ask the questions. */
    release(): void {
      for (const { resolve } of asking.values()) resolve();
      asking.clear();
    },
  };
}
