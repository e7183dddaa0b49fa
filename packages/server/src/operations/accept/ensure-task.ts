import { StoreError } from '@batonjs/store';
import { isoTime } from '../../base/timing/clock.ts';
import type { LiveTask } from '../../log/live-task.ts';
import { decideAll } from '../../log/write/decision.ts';
import { reportTransitions } from '../../log/write/transition.ts';
import { write } from '../../log/write/write.ts';
import { dueAt } from '../../turns/order/task-deadlines.ts';
import type { Dependencies } from '../call/dependencies.ts';

/** Whether the log became a task or was answered; a task is made of it if neither. */
export async function ensureTask(live: LiveTask, dependencies: Dependencies): Promise<void> {
  const { clock } = dependencies;
  const { timeouts } = dependencies.options;
  try {
    const written = await write(
      live,
      (state) =>
        state && !state.closed && !state.task
          ? decideAll(state, [{ type: 'create', taskId: live.taskId }], isoTime(clock.now()))
          : { facts: [], state },
      { dueAt: (state) => dueAt(state, timeouts) },
    );
    reportTransitions(undefined, live, written.facts, dependencies.onEvent);
  } catch (error) {
    // The agent answered, or the task ended, at that very moment.
    if (!StoreError.is(error, 'LOG_CLOSED')) throw error;
    await live.refresh();
    if (!live.state.closed) throw error;
  }
}
