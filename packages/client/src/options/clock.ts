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
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      // `setTimeout` fires at once when its delay does not fit into 31 bits.
      const timer = setTimeout(end, Math.min(ms, 0x7fffffff));
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end);
    }),
};
