import type { Json } from './model/json.ts';
import type { Message, Part } from './model/messages.ts';
import { isObject } from './values/json.ts';

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

/** Whether the form of a question in the log is the agent's own, and not one that another agent passed on. */
export const isOwnForm = (question: Message | undefined): boolean =>
  Object(question?.metadata?.[FORM_INPUT]).isOwn === true;

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((text) => typeof text === 'string');

/** The answer in a part; undefined if it is none. An answer has the media type of forms, or the id of the asked form. */
export function answerIn(part: Part, asked: Form | undefined): FormAnswer | undefined {
  if (!('data' in part) || !isObject(part.data)) return undefined;
  const { formId = '', values = null } = part.data;
  if (part.mediaType !== FORM_TYPE && (formId !== asked?.formId || !('values' in part.data)))
    return undefined;
  return { formId: String(formId), values };
}

const yes: ReadonlySet<string> = new Set(
  'yes y yep yeah ok okay sure accept accepted agree agreed allow allowed approve approved confirm confirmed'.split(
    ' ',
  ),
);
const no: ReadonlySet<string> = new Set(
  'no n nope decline declined deny denied disagree refuse refused reject rejected'.split(' '),
);
const polite: ReadonlySet<string> = new Set(
  'ahead and do go i it please so thank thanks that this we you'.split(' '),
);

/**
 * Whether a text says yes or no, and nothing else: "Yes, please go ahead", "Denied.". A no may give its reason: "No, it
 * is too far". Undefined for all other words, also for a yes with a condition.
 */
export function yesOrNo(text: string): boolean | undefined {
  const words = text.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? [];
  const isOnly = (said: ReadonlySet<string>) =>
    words.some((word) => said.has(word)) && words.every((word) => said.has(word) || polite.has(word));
  if (isOnly(yes)) return true;
  const [first = ''] = words;
  const isReasoned = no.has(first) && /^\s*[\p{L}]+\s*[,.:;!–—-]/u.test(text);
  return isOnly(no) || isReasoned ? false : undefined;
}
