import type { ReadTask, TaskAddress, TaskLog } from './task-log.ts';
import { isFinal } from './view.ts';

/** How often the store is read in case a notification was lost, in milliseconds. */
const sweepMs = 1_000;

/**
 * The task as soon as its sequence is larger than `after`, or as it was read when the time is over. Once the signal is
 * aborted, because the client left or the gateway closes, the store is not asked again.
 * Undefined if it does not exist.
 */
export async function waitForUpdate(
  log: TaskLog,
  { scope, id }: TaskAddress,
  { after, ms, signal }: { readonly after: number; readonly ms: number; readonly signal: AbortSignal },
): Promise<ReadTask | undefined> {
  let changed = Promise.withResolvers<void>();
  // Subscribe before reading, or a commit in between would be missed.
  const unsubscribe = await log.store.subscribe({ scope, taskId: id }, () => changed.resolve());
  const wake = () => changed.resolve();
  const end = performance.now() + ms;
  signal.addEventListener('abort', wake);
  try {
    for (;;) {
      changed = Promise.withResolvers();
      const read = await log.read({ scope, id });
      const leftMs = end - performance.now();
      if (!read || read.task.sequence > after || isFinal(read.task) || leftMs <= 0 || signal.aborted)
        return read;
      const timer = setTimeout(wake, Math.min(leftMs, sweepMs));
      await changed.promise;
      clearTimeout(timer);
      if (signal.aborted) return read;
    }
  } finally {
    signal.removeEventListener('abort', wake);
    await unsubscribe();
  }
}
