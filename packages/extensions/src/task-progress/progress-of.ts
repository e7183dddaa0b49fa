import type { StreamResponse, Task } from '@batonjs/protocol';
import { TASK_PROGRESS } from '../uris.ts';

/** The progress of a task. */
export interface Progress {
  /** From 0 to `total`. */
  readonly progress: number;
  readonly total: number;
}

/** The progress in an event or in a task's status; undefined if there is none or its numbers are invalid. */
export function progressOf(from: StreamResponse | Task): Progress | undefined {
  const event = 'status' in from ? { task: from } : from;
  const { task, statusUpdate } = event as {
    task?: Task;
    statusUpdate?: { status: Task['status']; metadata?: object };
  };
  const { status } = task ?? statusUpdate ?? {};
  const [value] = [statusUpdate?.metadata, status?.message?.metadata].flatMap(
    (metadata) => Object(metadata)[TASK_PROGRESS] ?? [],
  );
  const { progress, total } = Object(Object(value).aggregate) as Readonly<Record<string, unknown>>;
  if (typeof progress !== 'number' || typeof total !== 'number') return undefined;
  return progress >= 0 && progress <= total && total < Number.POSITIVE_INFINITY
    ? { progress, total }
    : undefined;
}
