/** Resolves once the event loop has handled the timers and connections that are due. */
export const nextRound = (): Promise<void> =>
  new Promise((resolve) => {
    // Workers have only timers, which take longer.
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve);
  });
