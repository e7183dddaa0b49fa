import { type Clock, systemClock } from '../../base/timing/clock.ts';
import { cancelStored } from '../bulk/cancel-stored.ts';
import type { ForkSource } from '../fork/fork-stored.ts';
import { type Erasure, eraseIn } from './erase-in.ts';

/** How often the log of a task is looked at that is to end, in milliseconds. */
const lookEveryMs = 100;

/**
 * Erases tasks of a scope by the store alone: a server or worker of the agent ends those at work. Waits up to `waitMs`
 * milliseconds for each.
 */
export async function eraseStored(
  scope: string,
  which: { readonly taskId?: string | undefined; readonly contextId?: string | undefined },
  { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal },
  given: ForkSource,
): Promise<Erasure> {
  const source: ForkSource & { readonly clock: Clock } = { ...given, clock: given.clock ?? systemClock };
  const { store, clock } = source;
  const hasEnded = async (taskId: string) => (await store.load(scope, taskId))?.head.closed ?? true;
  return eraseIn(scope, which, store, async (taskId) => {
    signal?.throwIfAborted();
    const deadline = clock.monotonic() + waitMs;
    if ((await cancelStored({ scope, taskId }, source)) === 'it has ended') return;
    while (!(await hasEnded(taskId)) && clock.monotonic() < deadline && !signal?.aborted)
      await clock.sleep(lookEveryMs, signal);
  });
}
