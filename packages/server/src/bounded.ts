import { StoreError } from '@batonjs/store';
import type { Clock } from './clock.ts';

/** Gives a store call so many milliseconds; then it rejects as `UNAVAILABLE`, whatever becomes of it later. */
export function bounded<T>(call: Promise<T>, ms: number, { sleep }: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const settle = <V>(how: (value: V) => void) => {
      return (value: V) => {
        done.abort();
        how(value);
      };
    };
    call.then(settle(resolve), settle(reject));
    void sleep(ms, done.signal).then(() => {
      if (!done.signal.aborted)
        reject(new StoreError('UNAVAILABLE', `The store did not answer within ${ms} ms`));
    });
  });
}
