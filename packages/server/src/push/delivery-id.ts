import { createHash } from 'node:crypto';
import type { PushConfig, StoredFact } from '@batonjs/store';

/**
 * Names one update for one webhook: the same in every attempt, by any process. `first` is the first fact of the log, which
 * tells it from another log that had the same task id once. A hash, because ids of clients may hold what a header may not.
 */
export const deliveryId = (
  { taskId, id }: Pick<PushConfig, 'taskId' | 'id'>,
  first: StoredFact,
  version: number,
): string =>
  createHash('sha256')
    .update(JSON.stringify([first.commitId, taskId, id, version]))
    .digest('base64url')
    .slice(0, 32);
