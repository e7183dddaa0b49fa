import type { Rate } from '../port/task-store.ts';
import type { Step } from './change.ts';

/** What became of a bucket from which one was asked for. */
export interface BucketAfter {
  /** When the bucket will be full again, in milliseconds of the store's clock. */
  readonly fullAt: number;
  /** 0 if one was taken; otherwise the milliseconds until there is one, at most `everyMs`. */
  readonly waitMs: number;
}

/**
 * Takes one from a bucket, if there is one. `fullAt`: when the bucket is full; undefined for one that is not stored,
 * which is full. All stores calculate like this. A bucket is never emptier than empty, so that after a change of the
 * clock or of the rate it fills from then on. Known as the generic cell rate algorithm.
 */
export function takenFrom(fullAt: number | undefined, { burst, everyMs }: Rate, now: number): BucketAfter {
  const wholeMs = burst * everyMs;
  const from = Math.min(Math.max(fullAt ?? now, now), now + wholeMs);
  // Sums of fractions of a millisecond are not exact, and neither are clocks.
  const waitMs = Math.min(from + everyMs - wholeMs - now, everyMs);
  return waitMs > Math.min(everyMs / 100, 1)
    ? { fullAt: from, waitMs }
    : { fullAt: from + everyMs, waitMs: 0 };
}

/** The decision to take one from a bucket; resolves to the milliseconds until there is one. */
export const takeStep = (bucket: string, rate: Rate): Step<number, never> => ({
  wanted: { bucket },
  decide: ({ fullAt: kept, leaseNow }) => {
    const { fullAt, waitMs } = takenFrom(kept, rate, leaseNow);
    return { result: waitMs, fullAt: fullAt === kept ? undefined : fullAt };
  },
});
