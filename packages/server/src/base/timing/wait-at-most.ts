import type { Clock } from './clock.ts';

/** A cheap reason: without one, every abort makes an error with a stack. */
const over = Symbol('over');

/** Waits for at most `ms` milliseconds, and no longer than until `interest` is aborted. `wait` ends with its signal. */
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
