import { A2AError } from '@batonjs/protocol/errors';
import type { Scope } from '@batonjs/store';
import type { Webhooks } from '../webhooks.ts';

/** Throws `RESOURCE_EXHAUSTED` if the task has its most webhooks already, and none has this id. */
export async function checkConfigLimit(
  scope: Scope,
  taskId: string,
  id: string | undefined,
  { store, options: { configsPerTask } }: Webhooks,
): Promise<void> {
  const known = await store.listPushConfigs(scope, taskId, { limit: configsPerTask });
  if (known.length < configsPerTask || known.some((push) => push.id === id)) return;
  throw tooMany(configsPerTask);
}

/** The error for one webhook too many; also if others were registered since the check. */
export const tooMany = (configsPerTask: number): A2AError =>
  new A2AError('RESOURCE_EXHAUSTED', `A task has at most ${configsPerTask} webhooks`);
