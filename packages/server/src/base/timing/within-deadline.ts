import { type Answer, StoreError } from '@batonjs/store';
import { type Clock, type HearingClock, hear } from './clock.ts';
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

/**
 * Gives a store call so many milliseconds; then it rejects as `UNAVAILABLE`, whatever becomes of it later. `ms` is one
 * of few values. A late value is passed to `late`. `watch` hears how the call ends.
 */
export function bounded<T>(
  call: Promise<T>,
  ms: number,
  clock: HearingClock,
  late?: (value: T) => void,
  watch?: CallWatch,
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
        fail(new StoreError('UNAVAILABLE', `The store did not answer within ${ms} ms`));
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
