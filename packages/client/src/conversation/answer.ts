import type { Json, Message, Part, Task } from '@batonjs/protocol';

/** A message that `agent.send` accepts unchanged. */
export type AnswerMessage = Pick<Message, 'taskId' | 'contextId' | 'parts'>;

/**
 * Creates the answer to the question that a task waits with: text, or the values of a form. If the question contains a
 * form, the values refer to it.
 *
 * Send it with `agent.send(answer(task, { amount: 100 }))`.
 */
export function answer({ id, contextId, status }: Task, values: Json): AnswerMessage {
  const form = status.message?.parts.find((part) => formIdOf(part) !== undefined);
  const part: Part =
    typeof values === 'string'
      ? { text: values }
      : form
        ? {
            data: { formId: formIdOf(form) as Json, values },
            ...(form.mediaType && { mediaType: form.mediaType }),
          }
        : { data: values };
  return { taskId: id, ...(contextId && { contextId }), parts: [part] };
}

/** The id of a form. A form is a data part with a `formId`. */
const formIdOf = (part: Part): Json | undefined =>
  'data' in part && typeof part.data === 'object' && part.data !== null && !Array.isArray(part.data)
    ? part.data.formId
    : undefined;
