import { A2AError } from '@batonjs/protocol/errors';
import type { Scope } from '@batonjs/store';
import type { LiveTask } from '../../log/live-task.ts';
import type { Dependencies } from './dependencies.ts';

/** The live task, to be released by the caller. Throws `TASK_NOT_FOUND`, for a log that is no task as well. */
export async function openTask(
  taskId: string,
  scope: Scope,
  { tasks }: Pick<Dependencies, 'tasks'>,
): Promise<LiveTask> {
  const live = await tasks.open(scope, taskId);
  if (live?.state.task) return live;
  if (live) tasks.release(live);
  throw taskNotFound(taskId);
}

export const taskNotFound = (taskId: string): A2AError =>
  new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId } });
