import type { Message, Task } from '@batonjs/protocol';
import type { Failure } from '@batonjs/server';
import { TASK_ERROR } from '../uris.ts';

/** The failure in a message: in its metadata, else in a data part. Undefined if it has none. */
export function failureIn(message: Message | undefined): Failure | undefined {
  const marked = message?.metadata?.[TASK_ERROR];
  const parts = message?.parts.flatMap((part) => ('data' in part ? [part.data] : [])) ?? [];
  return [marked, ...parts].map(toFailure).find((failure) => failure !== undefined);
}

function toFailure(value: unknown): Failure | undefined {
  const { code, message, retryable, details } = Object(value) as Readonly<Record<string, unknown>>;
  if (typeof code !== 'string' || code === '' || typeof message !== 'string') return undefined;
  return {
    code,
    message,
    ...(typeof retryable === 'boolean' && { retryable }),
    ...(details !== undefined && { details: details as Failure['details'] }),
  };
}

/** The reason why a task FAILED or was REJECTED; undefined if its message has none that programs can read. */
export const errorOf = ({ status }: Task): Failure | undefined =>
  /_(FAILED|REJECTED)$/.test(status.state) ? failureIn(status.message) : undefined;
