import type { Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { viewWithin } from '../../log/fit-task.ts';
import { hasTooMany, tooManyTasks } from '../accept/check-unfinished.ts';
import { scopeOf } from '../call/call-context.ts';
import type { Dependencies } from '../call/dependencies.ts';
import { taskNotFound } from '../call/task-webhooks.ts';
import { viewFor } from '../call/view-for.ts';
import { toWireError } from '../call/wire-error.ts';
import { type ForkRequest, forkStored } from './fork-stored.ts';

/** What a fork is asked for, and whose task the origin is. */
export interface ForkOptions extends ForkRequest {
  /** The `scope` that `authenticate` returned for the caller of the task; without it, callers that are not authenticated. */
  readonly caller?: string;
  readonly tenant?: string;
}

/**
 * Makes a task that goes on from a point of another one of the same caller. Not an operation of the protocol. Rejects with
 * an `A2AError`.
 */
export async function forkTask(
  taskId: string,
  { caller = '', tenant, ...request }: ForkOptions,
  dependencies: Dependencies,
): Promise<Task> {
  const { tasks, options, isOpen, owners, logger, onTransition } = dependencies;
  const { schedule, clocks, limits, queue, unfinishedTasks } = options;
  if (!isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  if (!owners.isOurs && (await owners.refusal()) !== undefined) throw new A2AError('UNAVAILABLE');
  const scope = scopeOf(queue, tenant, { scope: caller });
  try {
    if (unfinishedTasks !== undefined && (await hasTooMany(scope, unfinishedTasks, dependencies)))
      throw tooManyTasks();
    const { store, clock } = dependencies;
    const asked = { by: caller, ...request };
    const id = await forkStored({ scope, taskId }, asked, { store, clock, queue, schedule, clocks, limits });
    const live = await tasks.open(scope, id);
    if (!live) throw taskNotFound(id);
    try {
      const { state } = live;
      const to = state.task?.status.state ?? 'TASK_STATE_SUBMITTED';
      onTransition({ taskId: id, contextId: state.contextId, from: undefined, to, at: state.createdAt });
      return viewWithin(
        state,
        { currentStatusInHistory: options.currentStatusInHistory, ...viewFor([]) },
        limits.replyBytes,
      );
    } finally {
      tasks.release(live);
    }
  } catch (error) {
    throw toWireError(error, logger, { taskId });
  }
}
