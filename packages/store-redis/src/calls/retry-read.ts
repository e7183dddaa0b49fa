import { StoreError } from '@batonjs/store';

/** A read that failed sooner lost its connection. A read that took longer has used its time, in milliseconds. */
const soonMs = 1_000;

/** Repeats a read once if its connection was lost. Unlike a write, a read may be repeated. */
export async function retryRead<T>(read: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await read();
  } catch (error) {
    if (!StoreError.is(error, 'UNAVAILABLE') || performance.now() - start > soonMs) throw error;
    return read();
  }
}
