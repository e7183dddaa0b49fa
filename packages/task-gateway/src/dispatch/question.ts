import { textOf } from '@batonjs/client';
import { formOf } from '@batonjs/extensions/client';
import type { Task } from '@batonjs/protocol';
import type { GatewayForm } from '../tasks/gateway-task.ts';

/** The question that a task waits with at its agent. */
export interface Question {
  readonly form: GatewayForm;
  /** The agent asked in words: its answer is text. */
  readonly isPlain: boolean;
}

/** The question of a task that waits for an answer or an authorization. One in words becomes a form with one field. */
export function questionOf({ id, status, ...task }: Task): Question {
  const form = formOf({ id, ...task, status: { ...status, state: 'TASK_STATE_INPUT_REQUIRED' } });
  if (form) return { form, isPlain: false };
  const plain: GatewayForm = {
    formId: status.message?.messageId || id,
    title: textOf(status.message) || 'The agent asks',
    schema: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    },
  };
  return { form: plain, isPlain: true };
}
