import type { StreamResponse, Task } from '@batonjs/protocol';
import { TASK_PROGRESS } from '../uris.ts';

/** How far a task is. */
export interface Progress {
  /** From 0 to `total`. */
  readonly progress: number;
  readonly total: number;
}

/** How far the task is, as far as an event or its status tells; nothing if that makes no sense. */
export function progressOf(from: StreamResponse | Task): Progress | undefined {
  const event = 'status' in from ? { task: from } : from;
  const { task, statusUpdate } = event as {
    task?: Task;
    statusUpdate?: { status: Task['status']; metadata?: object };
  };
  const { status } = task ?? statusUpdate ?? {};
  const [told] = [statusUpdate?.metadata, status?.message?.metadata].flatMap(
    (metadata) => Object(metadata)[TASK_PROGRESS] ?? [],
  );
  const { progress, total } = Object(Object(told).aggregate) as Readonly<Record<string, unknown>>;
  if (typeof progress !== 'number' || typeof total !== 'number') return undefined;
  return progress >= 0 && progress <= total && total < Number.POSITIVE_INFINITY
    ? { progress, total }
    : undefined;
}
