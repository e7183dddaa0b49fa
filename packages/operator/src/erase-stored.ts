import { cancelStored } from './cancel-stored.ts';
import { type Erasure, eraseIn } from './erase-in.ts';
import type { Source } from './operated.ts';

/** How often the log of a task is looked at that is to end, in milliseconds. */
const lookEveryMs = 100;

/**
 * Erases tasks of a scope by the store alone: a server or worker of the agent ends those at work. Waits up to `waitMs`
 * milliseconds for each.
 */
export async function eraseStored(
  scope: string,
  which: { readonly taskId?: string | undefined; readonly contextId?: string | undefined },
  { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal | undefined },
  source: Source,
): Promise<Erasure> {
  const { store, clock } = source;
  const hasEnded = async (taskId: string) => (await store.load(scope, taskId))?.head.closed ?? true;
  return eraseIn(scope, which, source, async (taskId) => {
    signal?.throwIfAborted();
    const deadline = clock.monotonic() + waitMs;
    if ((await cancelStored({ scope, taskId }, source)) === 'it has ended') return;
    while (!(await hasEnded(taskId)) && clock.monotonic() < deadline && !signal?.aborted)
      await clock.sleep(lookEveryMs, signal);
  });
}
