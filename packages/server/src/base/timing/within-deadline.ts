import { A2AError } from '@batonjs/protocol/errors';
import { type Answer, StoreError } from '@batonjs/store';
import { type Clock, type HearingClock, hear, systemClock } from './clock.ts';
import { deadlinesOf } from './deadline-timers.ts';
import { work } from './hold-process.ts';

/**
 * Makes a store call, and rejects as `UNAVAILABLE` if it is not answered by this time of the monotonic clock. A time of
 * `Infinity` costs nothing.
 */
export async function boundedUntil<T>(call: () => Answer<T>, until: number, clock: Clock): Promise<T> {
  if (until === Number.POSITIVE_INFINITY) return call();
  const answered = new AbortController();
  const timeout = clock.sleep(Math.max(0, until - clock.monotonic()), answered.signal).then(() => {
    if (!answered.signal.aborted) throw new StoreError('UNAVAILABLE', 'The store did not answer in time');
    return new Promise<never>(() => {});
  });
  return Promise.race([call(), timeout]).finally(() => answered.abort());
}

/** Hears how each call of a store ends. */
export interface CallWatch {
  answered(): void;
  failed(error: unknown): void;
}

/** How long a function of the user's may take where no option says it: as long as a store by default. */
const usualMs = 5_000;

const storeExpired = (ms: number) =>
  new StoreError('UNAVAILABLE', `The store did not answer within ${ms} ms`);

/**
 * Gives a store call so many milliseconds; then it rejects as `UNAVAILABLE`, whatever becomes of it later. `ms` is one
 * of few values. A late value is passed to `late`. `watch` hears how the call ends. `expired`: the error, if it is no
 * store that is called.
 */
export function bounded<T>(
  call: Promise<T>,
  ms: number,
  clock: HearingClock,
  late?: (value: T) => void,
  watch?: CallWatch,
  expired: (ms: number) => Error = storeExpired,
): Promise<T> {
  clock[hear]?.(call);
  return new Promise((resolve, reject) => {
    let isLate = false;
    if (work.count++ === 0) work.hold();
    const fail = (error: unknown) => {
      watch?.failed(error);
      reject(error);
    };
    const deadlines = deadlinesOf(ms, clock);
    const deadline = deadlines.add({
      expire() {
        isLate = true;
        if (--work.count === 0) work.letGo();
        fail(expired(ms));
      },
    });
    call.then(
      (value) => {
        if (isLate) return late?.(value);
        deadlines.remove(deadline);
        if (--work.count === 0) work.letGo();
        watch?.answered();
        resolve(value);
      },
      (error) => {
        if (isLate) return;
        deadlines.remove(deadline);
        if (--work.count === 0) work.letGo();
        fail(error);
      },
    );
  });
}

/**
 * A function of the user's for whose answer a request waits, at most `ms` milliseconds, one of few values: then the request
 * is refused as `UNAVAILABLE`, and the log says why.
 */
export function answerInTime<Args extends readonly unknown[], T>(
  name: string,
  ask: (...args: Args) => T | Promise<T>,
  ms = usualMs,
  clock: Clock = systemClock,
): (...args: Args) => T | Promise<T> {
  const expired = () =>
    new A2AError('UNAVAILABLE', undefined, {
      retryAfter: 1,
      cause: new Error(`\`${name}\` did not answer within ${ms} ms`),
    });
  return (...args) => {
    const answer = ask(...args);
    return answer instanceof Promise ? bounded(answer, ms, clock, undefined, undefined, expired) : answer;
  };
}

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
