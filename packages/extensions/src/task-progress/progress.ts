import type { Metadata } from '@batonjs/server';
import { TASK_PROGRESS } from '../uris.ts';

/**
 * Creates the metadata that reports progress with an update: `yield working('Reading page 3', progress(3, 10))`. Throws
 * `RangeError` unless both are finite numbers and `done` is from 0 to `total`.
 */
export function progress(done: number, total = 100): Metadata {
  if (!(done >= 0 && done <= total && total < Number.POSITIVE_INFINITY))
    throw new RangeError(`Progress goes from 0 to a total, not ${done} of ${total}`);
  return { [TASK_PROGRESS]: { aggregate: { progress: done, total } } };
}
