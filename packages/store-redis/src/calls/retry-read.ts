import { StoreError } from '@batonjs/store';

/** Reads that failed sooner than this were cut off with their connection; the others had their time. */
const soonMs = 1_000;

/** Asks once more if the connection was lost meanwhile: reading twice changes nothing, unlike writing. */
export async function retryRead<T>(read: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await read();
  } catch (error) {
    if (!StoreError.is(error, 'UNAVAILABLE') || performance.now() - start > soonMs) throw error;
    return read();
  }
}
