import { StoreError } from '@batonjs/store';
import type { Clock } from './clock.ts';
import { deadlinesOf } from './deadlines.ts';

/**
 * Gives a store call so many milliseconds; then it rejects as `UNAVAILABLE`, whatever becomes of it later. `ms` is one of
 * few values. What comes after all is handed to `late`.
 */
export function bounded<T>(
  call: Promise<T>,
  ms: number,
  clock: Clock,
  late?: (value: T) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const deadlines = deadlinesOf(ms, clock);
    const deadline = deadlines.add(() => {
      isLate = true;
      reject(new StoreError('UNAVAILABLE', `The store did not answer within ${ms} ms`));
    });
    call.then(
      (value) => {
        if (isLate) return late?.(value);
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
