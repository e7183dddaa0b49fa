import type { Clock } from './clock.ts';

/** A reason that costs nothing: without one, every abort makes an error with a stack. */
const over = Symbol('over');

/** Waits, but no longer than `ms` milliseconds and no longer than anybody is interested. `wait` ends with its signal. */
export async function atMost(
  ms: number,
  interest: AbortSignal,
  { sleep }: Clock,
  wait: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const end = new AbortController();
  const stop = () => end.abort(over);
  interest.addEventListener('abort', stop);
  if (interest.aborted) stop();
  void sleep(ms, end.signal).then(stop);
  try {
    await wait(end.signal);
  } finally {
    interest.removeEventListener('abort', stop);
    stop();
  }
}
