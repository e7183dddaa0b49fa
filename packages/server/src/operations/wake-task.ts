import { A2AError } from '@batonjs/protocol/errors';
import { StoreError } from '@batonjs/store';
import { newId } from '../base/system/new-id.ts';
import { isoTime } from '../base/timing/clock.ts';
import { decideAll, reserveSize } from '../log/write/decision.ts';
import { appendOpenly } from '../log/write/write.ts';
import { orderFor } from '../turns/order/schedule.ts';
import { readWakeKey } from '../turns/order/wake-time.ts';
import { type Dependencies, taskNotFound } from './call/call-context.ts';

/**
 * Starts another turn of the task that a wake key names, without a client's message. Not an operation of the protocol:
 * the program of the server calls it. Rejects with an `A2AError`: `INVALID_PARAMS` for another text than a wake key,
 * `TASK_NOT_FOUND`, or `UNSUPPORTED_OPERATION` if the task has ended.
 */
export async function wakeTask(
  wakeKey: string,
  metadata: Record<string, unknown> | undefined,
  { tasks, clock, options }: Pick<Dependencies, 'tasks' | 'clock' | 'options'>,
): Promise<void> {
  const { queue, limits, schedule } = options;
  const { scope, taskId } = readWakeKey(wakeKey);
  const live = await tasks.open(scope, taskId);
  if (!live) throw taskNotFound(taskId);
  try {
    const { facts } = decideAll(live.state, [{ type: 'wake', metadata }], isoTime(clock.now()));
    const giveBack = reserveSize(live, facts, limits);
    const turn = { queue, want: true, ...orderFor(schedule) };
    await appendOpenly(live, facts, `woken:${newId(clock)}`, turn).finally(giveBack);
  } catch (error) {
    if (StoreError.is(error, 'LOG_CLOSED'))
      throw new A2AError('UNSUPPORTED_OPERATION', 'The task is finished');
    throw error;
  } finally {
    tasks.release(live);
  }
}
