import type { GetTaskRequest, Task } from '@batonjs/protocol';
import { STATE_HISTORY } from '@batonjs/protocol/headers';
import { loadTask } from '@batonjs/store';
import { viewWithin } from '../log/fit-task.ts';
import { generationParam } from '../log/generation/generation-param.ts';
import { waitForGeneration } from '../log/generation/wait-for-generation.ts';
import type { CallContext } from './call/call-context.ts';
import type { Dependencies } from './call/dependencies.ts';
import { taskNotFound } from './call/open-task.ts';
import { viewFor } from './call/view-for.ts';
import { readStateHistory } from './state-history.ts';

/**
 * GetTask, with the changes of its state where that extension is active. With `currentGeneration`, waits until the task is
 * beyond it. Spec: §3.1.3.
 */
export async function getTask(
  { id, historyLength, currentGeneration }: GetTaskRequest,
  context: CallContext,
  dependencies: Dependencies,
): Promise<Task> {
  const { scope, extensions } = context;
  const { store, options } = dependencies;
  const { messages, limits } = options;
  const known = generationParam(currentGeneration, 'currentGeneration', extensions);
  if (known !== undefined) await waitForGeneration(id, known, context, dependencies);
  const state = await loadTask(store, scope, id);
  if (!state?.task) throw taskNotFound(id);
  const view = viewFor(extensions, messages, historyLength);
  const task = viewWithin(state, view, limits.replyBytes);
  if (!extensions.includes(STATE_HISTORY)) return task;
  const history = await readStateHistory(store, scope, id, state.version);
  return { ...task, metadata: { ...task.metadata, [STATE_HISTORY]: history } };
}
