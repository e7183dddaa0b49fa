import type { Message } from '@batonjs/protocol';
import { TASK_TREE } from '@batonjs/protocol/headers';

/** The text parts of a message, joined by newlines. */
export function linesOf({ parts }: Message): string {
  let lines: string | undefined;
  for (const part of parts)
    if ('text' in part) lines = lines === undefined ? part.text : `${lines}\n${part.text}`;
  return lines ?? '';
}

/** The members of all data parts that clients sent; later ones win. */
export function valuesOf(messages: readonly Message[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { role, parts } of messages) {
    if (role !== 'ROLE_USER') continue;
    for (const part of parts) {
      if (
        !('data' in part) ||
        typeof part.data !== 'object' ||
        part.data === null ||
        Array.isArray(part.data)
      )
        continue;
      for (const [name, value] of Object.entries(part.data)) if (name !== '__proto__') values[name] = value;
    }
  }
  return values;
}

/**
 * The value as JSON keeps it; `undefined` becomes `null`. Throws `TypeError` where JSON cannot hold it: `what` names it
 * in the message.
 */
export function asJson(what: string, value: unknown): unknown {
  if (value === undefined) return null;
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined) return JSON.parse(text);
  throw new TypeError(`${what} is not JSON, so it cannot be kept`, { cause });
}

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
