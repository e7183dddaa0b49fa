/** Where time and chance come from; a test may decide both. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves after so many milliseconds, or when aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** At least 0, less than 1. */
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
      // Timers take 31 bits; a longer one would fire at once.
      const timer = setTimeout(end, Math.min(ms, 0x7fffffff));
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end);
    }),
};
