import { pause, steadyNow } from '@batonjs/store';

/** Where time and chance come from; a test may decide both. */
export interface Clock {
  /** Milliseconds since 1970. A clock that goes back makes deadlines late. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set back. */
  readonly monotonic: () => number;
  /** Resolves after so many milliseconds, or when aborted. Keeps no process alive. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

export const systemClock: Clock = {
  now: steadyNow,
  monotonic: () => performance.now(),
  sleep: pause,
  random: Math.random,
};

let latest = { ms: 0, text: new Date(0).toISOString() };

/** ISO 8601, UTC, milliseconds. Remembers the last, because much happens in the same millisecond. */
export function isoTime(ms: number): string {
  if (latest.ms !== ms) latest = { ms, text: new Date(ms).toISOString() };
  return latest.text;
}
