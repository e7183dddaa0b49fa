import type { Json } from '@batonjs/protocol';
import { data, inputRequired as plainInputRequired, type TaskUpdate, text } from '@batonjs/server';
import type { z } from 'zod';
import { jsonSchemaOf } from '../schema.ts';
import { FORM_INPUT } from '../uris.ts';
import { FORM_TYPE, type Form } from './form.ts';

/** How a question is asked as a form. */
export interface FormQuestion {
  /** What the answer must be; its field names are what people see. */
  readonly form: z.ZodObject;
  readonly title?: string;
  /** What is known already. */
  readonly initial?: Json;
}

/** Asks a question, as text and as a form. The answer's values arrive in `turn.values`, checked. Needs `formInput`. */
export const inputRequired = (question: string, { form, title, initial }: FormQuestion): TaskUpdate =>
  askWith(question, {
    formId: crypto.randomUUID(),
    ...(title && { title }),
    // What it does not ask for is a mistake, unless its own schema says otherwise.
    schema: { additionalProperties: false, ...jsonSchemaOf(form) },
    ...(initial !== undefined && { initial }),
  });

/** Asks with a form that is there already. */
export function askWith(question: string, form: Form): TaskUpdate {
  const update = plainInputRequired([text(question), data(form, { mediaType: FORM_TYPE })]);
  if ('status' in update && update.status.message) update.status.message.extensions = [FORM_INPUT];
  return update;
}
