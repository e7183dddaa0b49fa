import { type StoredFact, StoreError } from '@batonjs/store';
import { boundedUntil } from '../timing/within-deadline.ts';
import type { LiveTask } from './live-task.ts';

/**
 * What follows the position a commit was decided on; undefined if the store does not say. Rejects with `LOG_DIVERGED` if
 * the store lost what it was decided on.
 */
export async function readNext(
  live: LiveTask,
  expected: number,
  until: number,
): Promise<readonly StoredFact[] | undefined> {
  const { scope, taskId, settings } = live;
  const { store, clock } = settings;
  if (clock.monotonic() >= until) return undefined;
  try {
    const last = expected === live.version ? live.commitIdAt(expected) : undefined;
    return await boundedUntil(() => store.readFacts(scope, taskId, expected, 256, last), until, clock);
  } catch (error) {
    if (StoreError.is(error, 'LOG_DIVERGED')) {
      await live.look();
      throw error;
    }
    return undefined;
  }
}
