import { A2AError } from '@batonjs/protocol/errors';
import { StoreError } from '@batonjs/store';
import { scopeOf } from '../call/call-context.ts';
import type { Dependencies } from '../call/dependencies.ts';
import { cancelTask } from '../cancel-task.ts';
import { type Erasure, eraseIn } from './erase-in.ts';

/** Names one task, those of a context, or all of a caller. */
export interface EraseOptions {
  /** The `scope` that `authenticate` returns for the caller; without it, callers that are not authenticated. */
  readonly caller?: string;
  readonly tenant?: string;
  /** Only this task. */
  readonly taskId?: string;
  /** Only tasks of this context. */
  readonly contextId?: string;
}

/**
 * Deletes tasks with everything that names them, at once if they have ended, and after a cancel otherwise. Rejects with
 * `UNSUPPORTED_OPERATION` at a store that cannot. Calling it again goes on where it ended.
 */
export async function eraseTasks(
  { caller = '', tenant, taskId, contextId }: EraseOptions,
  dependencies: Dependencies,
): Promise<Erasure> {
  const scope = scopeOf(dependencies.options.queue, tenant, { scope: caller });
  return eraseIn(scope, { taskId, contextId }, dependencies.store, (id) => cancel(id, scope, dependencies));
}

async function cancel(id: string, scope: string, dependencies: Dependencies): Promise<void> {
  try {
    await cancelTask({ id }, { scope, extensions: [], signal: new AbortController().signal }, dependencies);
  } catch (error) {
    // It ended meanwhile, or is gone: another process may erase it just now.
    const isOver =
      A2AError.is(error, 'TASK_NOT_CANCELABLE') ||
      A2AError.is(error, 'TASK_NOT_FOUND') ||
      StoreError.is(error, 'LOG_DELETED');
    if (!isOver) throw error;
  }
}
