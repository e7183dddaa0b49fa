import type { PushRetry } from './push-options.ts';

/** How long to wait after so many failures: random below a bound that doubles, so that retries do not come in step. */
export const retryDelay = (
  failures: number,
  { baseDelayMs, maxDelayMs }: PushRetry,
  random: () => number,
): number => random() * Math.min(maxDelayMs, baseDelayMs * 2 ** Math.max(0, failures - 1));

/** The milliseconds of a `Retry-After`, which has seconds or a date. Undefined if it has neither. */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
