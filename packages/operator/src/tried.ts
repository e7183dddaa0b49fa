import { A2AError } from '@batonjs/protocol/errors';
import type { Clock } from '@batonjs/server/internals';
import { StoreError } from '@batonjs/store';

/**
 * Calls again while the store does not answer or the queue is full, for so many milliseconds. Whether a call that failed
 * so was carried out is not known.
 */
export async function tried<T>(
  call: () => Promise<T>,
  clock: Pick<Clock, 'monotonic' | 'random' | 'sleep'>,
  forMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const deadline = clock.monotonic() + forMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isBusy(error) || clock.monotonic() >= deadline || signal?.aborted) throw error;
      await clock.sleep(50 + clock.random() * 100, signal);
    }
  }
}

/** Whether the same may work in a moment. */
export const isBusy = (error: unknown): boolean =>
  StoreError.is(error, 'UNAVAILABLE') || A2AError.is(error, 'RESOURCE_EXHAUSTED');
