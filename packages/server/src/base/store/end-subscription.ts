import type { Unsubscribe } from '@batonjs/store';
import type { ReportFailure } from '../hooks/logger.ts';
import type { Clock } from '../timing/clock.ts';
import { boundedUntil } from '../timing/within-deadline.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly report: ReportFailure;
  readonly options: { readonly queue: string; readonly timeouts: { readonly storeMs: number } };
}

/** Ends the subscription of a queue, for a server that closes: waits for no longer than for any call. Never rejects. */
export async function endSubscription(
  subscribed: Promise<Unsubscribe> | undefined,
  { clock, report, options: { queue, timeouts } }: Dependencies,
): Promise<void> {
  const unsubscribe = await subscribed?.catch(() => undefined);
  if (!unsubscribe) return;
  try {
    await boundedUntil(async () => unsubscribe(), clock.monotonic() + timeouts.storeMs, clock);
  } catch (error) {
    report('Could not unsubscribe from the queue', { queue, error });
  }
}
