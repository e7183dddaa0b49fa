import type { PushRetry } from './push-options.ts';

/** How long to wait after so many failures: random below a bound that doubles, so that retries do not come in step. */
export const retryDelay = (
  failures: number,
  { baseDelayMs, maxDelayMs }: PushRetry,
  random: () => number,
): number => random() * Math.min(maxDelayMs, baseDelayMs * 2 ** Math.max(0, failures - 1));
