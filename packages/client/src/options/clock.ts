import { sleep } from '@batonjs/protocol/timing';
/** The source of time and randomness. Tests may replace it. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves after this many milliseconds, or when the signal aborts. Never rejects. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A random number of at least 0 and less than 1. */
  readonly random: () => number;
}

/** The clock of this process. */
export const systemClock: Clock = {
  now: Date.now,
  random: Math.random,
  sleep,
};
