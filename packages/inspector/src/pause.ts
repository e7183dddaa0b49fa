/** Resolves after this many milliseconds, when the signal aborts, or when the function that `listen` gets is called. */
export function pause(ms: number, signal: AbortSignal, listen?: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
    listen?.(end);
  });
}
