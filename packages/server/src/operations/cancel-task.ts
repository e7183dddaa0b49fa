import { decide } from '@batonjs/lifecycle';
import type { CancelTaskRequest, Task } from '@batonjs/protocol';
import { StoreError } from '@batonjs/store';
import { isoTime } from '../base/timing/clock.ts';
import { waitForFact } from '../log/cursor.ts';
import { viewWithin } from '../log/fit-task.ts';
import type { LiveTask } from '../log/live-task.ts';
import { appendOpenly } from '../log/write/write.ts';
import { orderFor } from '../turns/order/schedule.ts';
import { type CallContext, type Dependencies, openTask } from './call/call-context.ts';
import { viewOf } from './call/view-for.ts';

/**
 * CancelTask: records the request, waits a bounded time for the task to end, and returns it as it is then. Rejects with
 * `TASK_NOT_CANCELABLE` if it ended otherwise, before or meanwhile. Spec: §3.1.5.
 */
export async function cancelTask(
  { id, metadata }: CancelTaskRequest,
  context: Pick<CallContext, 'scope' | 'extensions' | 'signal'>,
  dependencies: Dependencies,
): Promise<Task> {
  const live = await openTask(id, context.scope, dependencies);
  try {
    await live.subscribe();
    await request(live, metadata, dependencies);
    if (!live.isOver) {
      const wait = {
        after: live.version,
        ms: dependencies.options.timeouts.cancelMs,
        signal: context.signal,
      };
      await waitForFact(live, () => live.state.closed, wait);
    }
    if (live.isDiverged) throw live.readError;
    // Throws if the task ended in another way meanwhile.
    decideAgain(live, dependencies);
    const { state } = live;
    const view = await viewOf({ id, version: state.version }, context, dependencies);
    return viewWithin(state, view, dependencies.options.limits.replyBytes);
  } finally {
    dependencies.tasks.release(live);
  }
}

async function request(live: LiveTask, metadata: CancelTaskRequest['metadata'], dependencies: Dependencies) {
  const { clock, claimer } = dependencies;
  const { queue, run, schedule } = dependencies.options;
  const command = { type: 'request-cancel' as const, ...(metadata && { metadata }) };
  const facts = decide(live.state, command, isoTime(clock.now()));
  if (facts.length === 0) return;
  try {
    await appendOpenly(live, facts, 'cancel', {
      queue,
      want: true,
      // No code of the agent goes on: any version may carry it out.
      version: null,
      ...orderFor(schedule, mostUrgent),
    });
  } catch (error) {
    if (!StoreError.is(error, 'LOG_CLOSED')) throw error;
    await live.tryRefresh();
    return;
  }
  const { openTurn } = live.state;
  // No process works on it: it waits, or its turn is paused.
  if (run !== 'workers' && (!openTurn || openTurn.pausedUntil !== undefined))
    await claimer.claimNow(live.scope, live.taskId, { mustEnd: true });
}

/** A task that ends gives its place to others. */
const mostUrgent = { priority: 9 };

function decideAgain(live: LiveTask, { clock }: Dependencies): void {
  if (live.state.closed) decide(live.state, { type: 'request-cancel' }, isoTime(clock.now()));
}
