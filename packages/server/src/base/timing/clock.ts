import { sleep } from '@batonjs/protocol/timing';

/** The source of time and randomness; a test may replace both. */
export interface Clock {
  /** The wall clock, in milliseconds since 1970: people's and agents' times and deadlines are compared with it. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set back. */
  readonly monotonic: () => number;
  /**
   * Resolves after so many milliseconds, or when aborted. `'idle'`: no call and no turn waits for it, and the process may end.
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

/** The last moment that is written with a year of four digits. */
const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * A time as ISO 8601, UTC, milliseconds. Throws `RangeError` unless it is from 1970 to 9999: other years are written in
 * more digits, and would not be in order as texts.
 */
export function momentOf(time: Date | number): string {
  const ms = Math.ceil(Number(time));
  if (!(ms >= 0 && ms <= last)) throw new RangeError(`A time is from 1970 to 9999, not ${String(time)}`);
  return new Date(ms).toISOString();
}
