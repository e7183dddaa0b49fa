/** How long to wait between two tries. */
export interface Backoff {
  /** Milliseconds before the second try. Default 1,000. */
  readonly initialMs?: number | undefined;
  /** How many times longer each wait is than the one before: 1 or more. Default 2. */
  readonly factor?: number | undefined;
  /** The longest wait in milliseconds. Default 60,000. */
  readonly maxMs?: number | undefined;
  /** Which part of a wait is left to chance, 0 to 1, so that many tasks do not try again at once. Default 0.2. */
  readonly jitter?: number | undefined;
}

/** The wait after so many failures, 1 or more, in milliseconds. `random`: at least 0 and less than 1. */
export const backoffMs = (
  failures: number,
  { initialMs = 1_000, factor = 2, maxMs = 60_000, jitter = 0.2 }: Backoff,
  random: () => number = Math.random,
): number => Math.min(maxMs, initialMs * factor ** Math.max(0, failures - 1)) * (1 - jitter * (1 - random()));

/**
 * Resolves after so many milliseconds, at most 2^31 - 1, or when aborted. Never rejects. `'idle'`: Node.js may end the
 * process meanwhile.
 */
export const sleep = (ms: number, signal?: AbortSignal, kind?: 'idle'): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    // A longer delay would end at once, and a time that is over already would be warned of.
    const timer: ReturnType<typeof setTimeout> & { unref?: () => void } = setTimeout(
      end,
      Math.min(Math.max(ms, 0), 2 ** 31 - 1),
    );
    if (kind) timer.unref?.();
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });

/** Settles as the answer does, or rejects as soon as the signal is aborted: what answers may not look at signals. */
export const unlessAborted = <T>(answer: T | PromiseLike<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    Promise.resolve(answer)
      .finally(() => signal.removeEventListener('abort', stop))
      .then(resolve, reject);
  });

/** The milliseconds of a `Retry-After`: seconds, or a date of HTTP. Undefined if it is neither. RFC 9110 §10.2.3. */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const at = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
