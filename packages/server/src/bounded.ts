import { StoreError } from '@batonjs/store';
import type { Clock } from './clock.ts';
import { deadlinesOf } from './deadlines.ts';

/**
 * Gives a store call so many milliseconds; then it rejects as `UNAVAILABLE`, whatever becomes of it later. `ms` is one of
 * few values.
 */
export function bounded<T>(call: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const deadlines = deadlinesOf(ms, clock);
    const deadline = deadlines.add(() =>
      reject(new StoreError('UNAVAILABLE', `The store did not answer within ${ms} ms`)),
    );
    call.then(
      (value) => {
        deadlines.remove(deadline);
        resolve(value);
      },
      (error) => {
        deadlines.remove(deadline);
        reject(error);
      },
    );
  });
}
