import type { Json } from '@batonjs/protocol';
import { FORM_TYPE, type Form } from '@batonjs/protocol/forms';
import { data, inputRequired as plainInputRequired, type TaskUpdate, text } from '@batonjs/server';
import type { z } from 'zod';
import { jsonSchemaOf } from '../schema.ts';
import { FORM_INPUT } from '../uris.ts';
import { asOwn } from './own-forms.ts';

/** The form of a question. */
export interface FormQuestion {
  /** The schema of the answer. People see its field names. */
  readonly form: z.ZodObject;
  readonly title?: string;
  /** Values that are known already. */
  readonly initial?: Json;
}

/**
 * Asks a question as text and as a form. The checked values of the answer arrive in `turn.values`. Requires
 * `formInput`.
 */
export const inputRequired = (question: string, { form, title, initial }: FormQuestion): TaskUpdate =>
  askWith(
    question,
    asOwn({
      formId: crypto.randomUUID(),
      ...(title && { title }),
      // Refuses members that the form does not ask for, unless its own schema allows them.
      schema: { additionalProperties: false, ...jsonSchemaOf(form) },
      ...(initial !== undefined && { initial }),
    }),
  );

/** Asks a question with an existing form. */
export function askWith(question: string, form: Form): TaskUpdate {
  const update = plainInputRequired([text(question), data(form, { mediaType: FORM_TYPE })]);
  if ('status' in update && update.status.message) update.status.message.extensions = [FORM_INPUT];
  return update;
}
