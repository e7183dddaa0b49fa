import type { Json } from './model/json.ts';
import type { Message, Part } from './model/messages.ts';

/** URI of the extension of an agent that asks questions with forms. */
export const FORM_INPUT = 'https://batonjs.dev/extensions/form-input/v1';

/** The media type of forms and of their answers. */
export const FORM_TYPE = 'application/vnd.batonjs.form+json';

/** A question in the shape of a form. */
export interface Form {
  readonly formId: string;
  readonly title?: string;
  /** The JSON Schema of an object that the `values` of the answer must match. */
  readonly schema: Readonly<Record<string, Json | undefined>>;
  /** Values that are known already. */
  readonly initial?: Json;
  /** The errors of the previous answer by field; the empty name stands for the whole answer. */
  readonly errors?: Readonly<Record<string, string>>;
}

/** The answer to a form. */
export interface FormAnswer {
  readonly formId: string;
  readonly values: Json;
}

/** The form of a message; undefined if it has none that can be read. */
export function formIn(message: Message | undefined): Form | undefined {
  for (const part of message?.parts ?? []) {
    if (part.mediaType !== FORM_TYPE || !('data' in part)) continue;
    const { formId, title, schema, initial, errors } = Object(part.data) as Readonly<Record<string, unknown>>;
    if (typeof formId !== 'string' || typeof schema !== 'object' || schema === null) continue;
    return {
      formId,
      schema: schema as Form['schema'],
      ...(typeof title === 'string' && { title }),
      ...(initial !== undefined && { initial: initial as Json }),
      ...(isTexts(errors) && { errors }),
    };
  }
  return undefined;
}

/** Whether the form of a question in the log is the agent's own, and not one that another agent handed up. */
export const isOwnForm = (question: Message | undefined): boolean =>
  Object(question?.metadata?.[FORM_INPUT]).isOwn === true;

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((text) => typeof text === 'string');

/**
 * The answer in a part; undefined if it is none. An answer has the media type of forms, or the id of the asked form.
 */
export function answerIn(part: Part, asked: Form | undefined): FormAnswer | undefined {
  if (!('data' in part) || typeof part.data !== 'object' || part.data === null || Array.isArray(part.data))
    return undefined;
  const { formId = '', values = null } = part.data;
  if (part.mediaType !== FORM_TYPE && (formId !== asked?.formId || !('values' in part.data)))
    return undefined;
  return { formId: String(formId), values };
}
