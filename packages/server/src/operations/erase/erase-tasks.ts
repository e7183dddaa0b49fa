import { A2AError } from '@batonjs/protocol/errors';
import type { ListedTask } from '@batonjs/store';
import { scopeOf } from '../call/call-context.ts';
import type { Dependencies } from '../call/dependencies.ts';
import { cancelTask } from '../cancel-task.ts';

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

/** What was erased. */
export interface Erasure {
  readonly tasks: number;
  readonly facts: number;
  readonly webhooks: number;
  /** Ids of tasks that were asked to cancel and have not ended yet: call again to erase them. */
  readonly left: readonly string[];
}

const pageSize = 100;

/**
 * Deletes tasks with everything that names them, at once if they have ended, and after a cancel otherwise. Rejects with
 * `UNSUPPORTED_OPERATION` at a store that cannot. Calling it again goes on where it ended.
 */
export async function eraseTasks(
  { caller = '', tenant, taskId, contextId }: EraseOptions,
  dependencies: Dependencies,
): Promise<Erasure> {
  const { store } = dependencies;
  if (!store.erase) throw new A2AError('UNSUPPORTED_OPERATION', 'The store erases no tasks');
  const scope = scopeOf(dependencies.options.queue, tenant, { scope: caller });
  const done = { tasks: 0, facts: 0, webhooks: 0 };
  const left: string[] = [];
  const eraseOne = async (id: string): Promise<void> => {
    let erased = await store.erase!(scope, id);
    if (erased === 'open') {
      await cancel(id, scope, dependencies);
      erased = await store.erase!(scope, id);
    }
    if (erased === 'open') left.push(id);
    else if (erased) {
      done.tasks += 1;
      done.facts += erased.facts;
      done.webhooks += erased.webhooks;
    }
  };
  if (taskId !== undefined) {
    await eraseOne(taskId);
    return { ...done, left };
  }
  // A task that is canceled here moves to the front of the list, behind which this goes on: it is met once.
  for (let after: { statusAt: string; taskId: string } | undefined; ; ) {
    const page: { readonly tasks: readonly ListedTask[] } = await store.list(scope, {
      answered: true,
      limit: pageSize,
      ...(contextId !== undefined && { contextId }),
      ...(after && { after }),
    });
    for (const task of page.tasks) await eraseOne(task.taskId);
    const last = page.tasks.at(-1);
    if (!last || page.tasks.length < pageSize) return { ...done, left };
    after = { statusAt: last.head.statusAt, taskId: last.taskId };
  }
}

async function cancel(id: string, scope: string, dependencies: Dependencies): Promise<void> {
  try {
    await cancelTask({ id }, { scope, extensions: [], signal: new AbortController().signal }, dependencies);
  } catch (error) {
    // It ended meanwhile.
    if (!A2AError.is(error, 'TASK_NOT_CANCELABLE') && !A2AError.is(error, 'TASK_NOT_FOUND')) throw error;
  }
}
