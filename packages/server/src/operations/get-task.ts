import type { GetTaskRequest, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { loadTask } from '@batonjs/store';
import { viewWithin } from '../log/fit-task.ts';
import type { CallContext } from './call/call-context.ts';
import type { Dependencies } from './call/dependencies.ts';

/** GetTask. Spec: §3.1.3. */
export async function getTask(
  { id, historyLength }: GetTaskRequest,
  { scope }: CallContext,
  { store, options: { currentStatusInHistory, limits } }: Dependencies,
): Promise<Task> {
  const state = await loadTask(store, scope, id);
  if (!state?.task) throw new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId: id } });
  return viewWithin(state, { historyLength, currentStatusInHistory }, limits.replyBytes);
}
