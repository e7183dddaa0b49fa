import type { TaskState } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { Scope } from '@batonjs/store';
import type { Dependencies } from '../call/call-context.ts';

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

/** Throws the refusal of a task that the program itself would begin for a caller. */
export async function mayBegin(scope: Scope, dependencies: Dependencies): Promise<void> {
  const { unfinishedTasks } = dependencies.options;
  await mayWork(dependencies);
  if (unfinishedTasks !== undefined && (await hasTooMany(scope, unfinishedTasks, dependencies)))
    throw tooManyTasks();
}

/** Throws if the server closes, or its queue is that of another agent. */
export async function mayWork({ isOpen, owners }: Dependencies): Promise<void> {
  if (!isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  if (!owners.isOurs && (await owners.refusal()) !== undefined) throw new A2AError('UNAVAILABLE');
}
