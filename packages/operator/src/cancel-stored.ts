import { FACT_FORMAT } from '@batonjs/lifecycle';
import { isoTime, newId, orderFor } from '@batonjs/server/internals';
import { StoreError, type TaskName } from '@batonjs/store';
import type { Source } from './operated.ts';

/**
 * Asks for the end of a task, by its log. A process that runs the agent carries it out. Resolves to the reason why there is
 * nothing to ask for, or to undefined.
 */
export async function cancelStored(
  { scope, taskId }: TaskName,
  { store, clock, queue, schedule }: Source,
): Promise<string | undefined> {
  try {
    const { repeated } = await store.commit({
      scope,
      taskId,
      commitId: newId(clock),
      expectedVersion: 'open',
      facts: [{ format: FACT_FORMAT, at: isoTime(clock.now()), type: 'cancel-requested' }],
      once: 'cancel',
      // No code of the agent goes on: any version may carry it out.
      turn: { queue, want: true, version: null, ...orderFor(schedule, { priority: 9 }) },
    });
    return repeated ? 'it was asked to cancel before' : undefined;
  } catch (error) {
    if (StoreError.is(error, 'LOG_CLOSED')) return 'it has ended';
    if (StoreError.is(error, 'VERSION_CONFLICT')) return 'it is gone';
    throw error;
  }
}
