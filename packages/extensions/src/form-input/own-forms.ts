import type { Message } from '@batonjs/protocol';
import { FORM_INPUT, FORM_TYPE, type Form, formIn, isOwnForm } from '@batonjs/protocol/forms';
import { type Issue, readOwnSchema } from '@batonjs/protocol/json-schema';
import type { TaskUpdate, Turn } from '@batonjs/server';
import { withoutParts } from '../extension.ts';
import { readJsonSchema } from '../json-schema/read-json-schema.ts';

/** Forms that `inputRequired` made in this process: from a schema in the agent's code. */
const made = new WeakSet<object>();

/** Remembers that a form is one of the agent itself. */
export function asOwn(form: Form): Form {
  made.add(form);
  return form;
}

/**
 * Says in the metadata of a question whether its form is the agent's own, for the process that checks the answer. The
 * mark of another agent is removed, and so is its right to have its regular expressions run.
 */
export function markOwn(update: TaskUpdate): TaskUpdate {
  if (!('status' in update) || !update.status.message) return update;
  const { metadata, ...message } = update.status.message;
  const isOwn = message.parts.some((part) => isForm(part) && made.has(Object(part.data)));
  if (!isOwn && !isOwnForm(update.status.message)) return update;
  const { [FORM_INPUT]: _, ...others } = metadata ?? {};
  const marked = isOwn ? { ...others, [FORM_INPUT]: { isOwn } } : others;
  return { ...update, status: { ...update.status, message: { ...message, metadata: marked } } };
}

/** The question as text for its client, with its form for the people whom others ask: by answer links, in the inspector. */
export function withHiddenForm(update: TaskUpdate): TaskUpdate {
  const form = 'status' in update && update.status.message && formIn(update.status.message);
  if (!form) return update;
  const isOwn = update.status.message?.parts.some((part) => isForm(part) && made.has(Object(part.data)));
  return { ...withoutParts(update, FORM_TYPE, FORM_INPUT), form: { ...form, ...(isOwn && { isOwn }) } };
}

/** The question as the client of the turn takes it: with its form, or as text. */
export const askedIn = ({ extensions }: Pick<Turn, 'extensions'>, update: TaskUpdate): TaskUpdate =>
  extensions.includes(FORM_INPUT) ? update : withHiddenForm(update);

const isForm = (part: Message['parts'][number]): part is typeof part & { data: unknown } =>
  part.mediaType === FORM_TYPE && 'data' in part;

/**
 * The problems of the values in an answer; undefined if they fit. A form that another agent passed on is read with care:
 * where it cannot be read, the agent that asked checks the answer alone.
 */
export function checkValues({ schema }: Form, values: unknown, isOwn: boolean): readonly Issue[] | undefined {
  if (!isOwn) return readJsonSchema(schema)?.check(values);
  return readOwnSchema(schema)(values);
}
