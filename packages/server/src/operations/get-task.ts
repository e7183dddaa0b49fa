import type { GetTaskRequest, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { STATE_HISTORY } from '@batonjs/protocol/headers';
import { loadTask } from '@batonjs/store';
import { viewWithin } from '../log/fit-task.ts';
import type { CallContext } from './call/call-context.ts';
import type { Dependencies } from './call/dependencies.ts';
import { metadataFor } from './call/task-metadata.ts';
import { readStateHistory } from './state-history.ts';

/** GetTask, with the changes of its state where that extension is active. Spec: §3.1.3. */
export async function getTask(
  { id, historyLength }: GetTaskRequest,
  { scope, extensions }: CallContext,
  { store, options: { currentStatusInHistory, limits } }: Dependencies,
): Promise<Task> {
  const state = await loadTask(store, scope, id);
  if (!state?.task) throw new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId: id } });
  const view = { historyLength, currentStatusInHistory, metadata: metadataFor(extensions) };
  const task = viewWithin(state, view, limits.replyBytes);
  if (!extensions.includes(STATE_HISTORY)) return task;
  const history = await readStateHistory(store, scope, id, state.version);
  return { ...task, metadata: { ...task.metadata, [STATE_HISTORY]: history } };
}
