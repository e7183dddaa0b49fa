import { insideOf, toWireError } from '@batonjs/server/internals';
import { type ForkRequest, forkStored } from './fork-stored.ts';
import { type OfCaller, type Operated, scopeIn, sourceOf } from './operated.ts';

/** What a fork is asked for, and whose task the origin is. */
export interface ForkOptions extends ForkRequest, OfCaller {}

/**
 * Makes a task that goes on from a point of another one and reuses what was recorded up to there. It is of the same
 * context, and names its origin, which stays as it is. Resolves to its id. Rejects with an `A2AError`: `TASK_NOT_FOUND`,
 * `INVALID_PARAMS` for a point from which no task can go on, `RESOURCE_EXHAUSTED` at a limit.
 */
export async function forkTask(agent: Operated, taskId: string, options: ForkOptions = {}): Promise<string> {
  const { caller, tenant, ...request } = options;
  const source = sourceOf(agent);
  const scope = scopeIn(source, options);
  const inside = insideOf(agent);
  await inside?.mayBegin(scope);
  try {
    return await forkStored({ scope, taskId }, { by: caller ?? '', ...request }, source);
  } catch (error) {
    throw inside ? toWireError(error, inside.logger, { taskId }) : error;
  }
}
