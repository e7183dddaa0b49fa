/**
 * Lets at most `most` callers continue in each round of the event loop. The others wait for later rounds, in order. Returns
 * undefined if the caller may continue at once, or what resolves when it may.
 */
export function roundLimit(most: number): () => Promise<void> | undefined {
  let left = most;
  const waiting: (() => void)[] = [];
  let isRefilling = false;

  async function refill(): Promise<void> {
    isRefilling = true;
    do {
      await nextRound();
      const next = waiting.splice(0, most);
      left = most - next.length;
      for (const resolve of next) resolve();
      // Stops after a round in which nothing waited.
    } while (left < most);
    isRefilling = false;
  }

  return () => {
    if (!isRefilling) void refill();
    if (left === 0) return new Promise((resolve) => void waiting.push(resolve));
    left--;
    return undefined;
  };
}

/** Resolves once the event loop has handled the timers and connections that are due. */
export const nextRound = (): Promise<void> =>
  new Promise((resolve) => {
    // Workers have only timers, which take longer.
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve);
  });
