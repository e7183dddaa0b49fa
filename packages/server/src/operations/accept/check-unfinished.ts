import type { TaskState } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { Scope } from '@batonjs/store';
import type { Dependencies } from '../call/dependencies.ts';

/** The states of tasks that have not ended. */
const unfinished: readonly TaskState[] = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
];

/** How long a client pauses that has too many tasks, in seconds. When one ends is not known. */
const pauseSeconds = 5;

/** Whether a caller has as many unfinished tasks as it may. */
export async function hasTooMany(scope: Scope, most: number, { store }: Dependencies): Promise<boolean> {
  const pages = await Promise.all(
    unfinished.map((state) => store.list(scope, { state, limit: 1, totalAtMost: most })),
  );
  return pages.reduce((sum, { total }) => sum + total, 0) >= most;
}

/** The refusal of a message that would start another task. */
export const tooManyTasks = (): A2AError =>
  new A2AError('RESOURCE_EXHAUSTED', 'Too many tasks of this caller have not ended', {
    retryAfter: pauseSeconds,
  });
