import type { Json, Message, Part, Task } from '@batonjs/protocol';

/** What can be sent as it is. */
export type AnswerMessage = Pick<Message, 'taskId' | 'contextId' | 'parts'>;

/**
 * The answer to the question that a task waits with: text, or the values of a form. If the question carries a form, they
 * are sent as that form's.
 *
 * Send it with `agent.send(answer(task, { amount: 100 }))`.
 */
export function answer({ id, contextId, status }: Task, values: Json): AnswerMessage {
  const asked = status.message?.parts.find((part) => formIdOf(part) !== undefined);
  const part: Part =
    typeof values === 'string'
      ? { text: values }
      : asked
        ? {
            data: { formId: formIdOf(asked) as Json, values },
            ...(asked.mediaType && { mediaType: asked.mediaType }),
          }
        : { data: values };
  return { taskId: id, ...(contextId && { contextId }), parts: [part] };
}

/** Forms are data parts with an id. */
const formIdOf = (part: Part): Json | undefined =>
  'data' in part && typeof part.data === 'object' && part.data !== null && !Array.isArray(part.data)
    ? part.data.formId
    : undefined;
