import { type StoredFact, StoreError } from '@batonjs/store';
import type { LiveTask } from './live-task.ts';

const batch = 256;
/** About how many bytes a reader that lags holds at once. */
const batchWeight = 250_000;
/** How long a reader that can wait does so before it asks the store again. */
const retryMs = 100;

/**
 * What a reader has missed after a position, where it knows a commit or does not; nothing yet, if the store cannot be read and the
 * reader can wait until it can (not `strict`).
 */
export async function catchUp(
  live: LiveTask,
  after: number,
  lastCommitId: string | undefined,
  signal: AbortSignal,
  strict: boolean,
): Promise<readonly StoredFact[]> {
  const { scope, taskId, settings, state, version } = live;
  try {
    // Of a log with large facts a few at a time: a reader that stops reading keeps what it was given.
    const average = state.weight / version;
    const limit = Math.max(1, Math.min(batch, Math.floor(batchWeight / average)));
    const facts = await settings.store.readFacts(scope, taskId, after, limit, lastCommitId);
    if (facts.length > 0) return facts;
  } catch (error) {
    if (StoreError.is(error, 'LOG_DIVERGED')) await live.look();
    if (strict || StoreError.is(error, 'LOG_GAP') || StoreError.is(error, 'LOG_DIVERGED')) throw error;
  }
  await settings.clock.sleep(retryMs, signal);
  return [];
}
