import type { Json, Message, Part } from '@batonjs/protocol';

/** The media type of forms and of answers to them. */
export const FORM_TYPE = 'application/vnd.batonjs.form+json';

/** A question as a form. */
export interface Form {
  readonly formId: string;
  readonly title?: string;
  /** JSON Schema of an object: what `values` of the answer must be. */
  readonly schema: Readonly<Record<string, Json | undefined>>;
  /** What is known already. */
  readonly initial?: Json;
  /** What was wrong with the answer before, by field; the name of the whole is empty. */
  readonly errors?: Readonly<Record<string, string>>;
}

/** What was filled in. */
export interface FormAnswer {
  readonly formId: string;
  readonly values: Json;
}

/** The form that a message asks with; nothing if there is none that can be read. */
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

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((text) => typeof text === 'string');

/** What a part answers to a form, if it does: it has a form's type, or the id of the form that was asked with. */
export function answerIn(part: Part, asked: Form | undefined): FormAnswer | undefined {
  if (!('data' in part) || typeof part.data !== 'object' || part.data === null || Array.isArray(part.data))
    return undefined;
  const { formId = '', values = null } = part.data;
  if (part.mediaType !== FORM_TYPE && (formId !== asked?.formId || !('values' in part.data)))
    return undefined;
  return { formId: String(formId), values };
}
