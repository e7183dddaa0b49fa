import type { TaskStore } from '@batonjs/store';
import type { ReportFailure } from '../hooks/logger.ts';
import type { Clock } from '../timing/clock.ts';
import { boundedUntil } from '../timing/within-deadline.ts';

interface Dependencies {
  readonly store: Pick<TaskStore, 'subscribe'>;
  readonly clock: Clock;
  readonly report: ReportFailure;
  readonly options: { readonly queue: string; readonly timeouts: { readonly storeMs: number } };
}

/**
 * Calls `notify` when something waits in the queue. Returns the end of that, for a server that closes: it waits for no
 * longer than for any call, and never rejects.
 */
export function subscribeToQueue(
  { store, clock, report, options: { queue, timeouts } }: Dependencies,
  notify: () => void,
): () => Promise<void> {
  const subscribed = Promise.resolve(store.subscribe({ queue }, notify));
  subscribed.catch((error: unknown) => report('Could not subscribe to the queue', { queue, error }));
  return async () => {
    const unsubscribe = await subscribed.catch(() => undefined);
    if (!unsubscribe) return;
    try {
      await boundedUntil(async () => unsubscribe(), clock.monotonic() + timeouts.storeMs, clock);
    } catch (error) {
      report('Could not unsubscribe from the queue', { queue, error });
    }
  };
}
