import { sleep } from '@batonjs/protocol/timing';

/** Resolves after this many milliseconds, when the signal aborts, or when the function that `listen` gets is called. */
export function pause(ms: number, signal: AbortSignal, listen: (wake: () => void) => void): Promise<void> {
  const woken = new AbortController();
  listen(() => woken.abort());
  return sleep(ms, AbortSignal.any([signal, woken.signal]));
}
