import { A2AError } from '@batonjs/protocol/errors';
import { derivedTaskId } from '@batonjs/server/internals';
import type { ListedTask, PushConfig, TaskName } from '@batonjs/store';
import { cancelStored } from '../erase-tasks.ts';
import { forkStored, originOf } from '../fork-task.ts';
import type { Source } from '../operated.ts';
import type { BulkAction, BulkOutcome, BulkRequest } from './bulk.ts';

/** What an action needs of its run. */
export interface ActionRun {
  readonly id: string;
  readonly request: BulkRequest;
  readonly dryRun: boolean;
  readonly source: Source;
}

type Acted = Omit<BulkOutcome, 'taskId'>;

const done: Acted = { outcome: 'done' };
const skipped = (reason: string): Acted => ({ outcome: 'skipped', reason });

/** Each may be repeated on a task without doing anything more to it. */
export const actions: Readonly<
  Record<BulkAction, (task: TaskName & Pick<ListedTask, 'head'>, run: ActionRun) => Promise<Acted>>
> = { cancel, fork, delete: erase, 'retry-webhooks': retryWebhooks };

async function cancel(
  { scope, taskId, head }: TaskName & Pick<ListedTask, 'head'>,
  { dryRun, source }: ActionRun,
): Promise<Acted> {
  if (head.closed) return skipped('it has ended');
  if (dryRun) return done;
  const reason = await cancelStored({ scope, taskId }, source);
  return reason === undefined ? done : skipped(reason);
}

async function fork(
  { scope, taskId }: TaskName,
  { id, dryRun, request: { from, by }, source }: ActionRun,
): Promise<Acted> {
  if (dryRun) return done;
  const forkId = derivedTaskId(scope, JSON.stringify(['fork', id, taskId]));
  if ((await originOf({ scope, taskId: forkId }, source.store)) === taskId)
    return { ...skipped('it was forked before'), forkId };
  const asked = { ...(from !== undefined && { from }), ...(by && { by }) };
  try {
    await forkStored({ scope, taskId }, asked, source, forkId);
    return { ...done, forkId };
  } catch (error) {
    if (A2AError.is(error, 'TASK_NOT_FOUND')) return skipped('it is gone');
    throw error;
  }
}

async function erase({ scope, taskId }: TaskName, { dryRun, source: { store } }: ActionRun): Promise<Acted> {
  if (!store.erase) throw new A2AError('UNSUPPORTED_OPERATION', 'The store erases no tasks');
  if (dryRun) return done;
  const erased = await store.erase(scope, taskId);
  if (erased === 'open') return skipped('it has not ended');
  return erased ? done : skipped('it is gone');
}

const webhooksAtOnce = 100;

/** Tries webhooks again that were given up, and at once those that wait for their next attempt. */
async function retryWebhooks(
  { scope, taskId }: TaskName,
  { dryRun, source: { webhooks } }: ActionRun,
): Promise<Acted> {
  if (!webhooks) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
  let found = 0;
  for (let after: string | undefined; ; ) {
    const page: readonly PushConfig[] = await webhooks.listPushConfigs(scope, taskId, {
      limit: webhooksAtOnce,
      ...(after !== undefined && { after }),
    });
    const waiting = page.filter(({ dead, retryAt }) => dead === undefined && retryAt !== undefined);
    const dead = page.filter((webhook) => webhook.dead !== undefined);
    found += waiting.length + dead.length;
    if (!dryRun) {
      if (waiting.length > 0) await webhooks.retryNow(waiting);
      for (const { id } of dead) await webhooks.revive(scope, taskId, id);
    }
    if (page.length < webhooksAtOnce) return found > 0 ? done : skipped('no webhook of it waits');
    after = page.at(-1)?.id;
  }
}
