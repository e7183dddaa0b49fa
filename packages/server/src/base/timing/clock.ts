import { sleep } from '@batonjs/protocol/timing';
/** The source of time and randomness; a test may replace both. */
export interface Clock {
  /** The wall clock, in milliseconds since 1970: people's and agents' times and deadlines are compared with it. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set back. */
  readonly monotonic: () => number;
  /**
   * Resolves after so many milliseconds, or when aborted. `'idle'`: no call and no turn waits for it, and
   * the process may end.
   */
  readonly sleep: (ms: number, signal?: AbortSignal, kind?: 'idle') => Promise<void>;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep,
  random: Math.random,
};

/** Names the member by which the clock of a test hears of calls. The same in each entry of the package. */
export const hear: unique symbol = Symbol.for('batonjs.clock.hear');

/** A clock that may hear of calls of stores and webhooks, which take no time of it. No function: each call would enter it. */
export interface HearingClock extends Clock {
  readonly [hear]?: (call: Promise<unknown>) => void;
}

let latest = { ms: 0, text: new Date(0).toISOString() };

/** ISO 8601, UTC, milliseconds. Remembers the last, because much happens in the same millisecond. */
export function isoTime(ms: number): string {
  if (latest.ms !== ms) latest = { ms, text: new Date(ms).toISOString() };
  return latest.text;
}
