import type { Message } from '@batonjs/protocol';
import { TASK_TREE } from '@batonjs/protocol/headers';

/** The task of another agent that started a task. What a client says, unchecked. */
export interface ParentTask {
  readonly taskId: string;
  /** The name of the started task within it. */
  readonly name: string;
}

/** The longest id or name of a parent that is shown, in characters. */
const longest = 512;

/** The parent that a message names in its metadata; undefined if it names none, or in another shape. */
export function parentIn(message: Message | undefined): ParentTask | undefined {
  const { taskId, name } = Object(Object(message?.metadata?.[TASK_TREE]).parent) as Record<string, unknown>;
  return isText(taskId) && isText(name) ? { taskId, name } : undefined;
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= longest;
