import type { PushConfig, StoredFact } from '@batonjs/store';
import { sha256 } from '#bytes';

/**
 * Names one update for one webhook: the same in every attempt, by any process. `first` is the first fact of the log,
 * which distinguishes the log from an earlier one of the same task id. A hash, because ids of clients may hold
 * characters that a header may not.
 */
export const deliveryId = (
  { taskId, id }: Pick<PushConfig, 'taskId' | 'id'>,
  first: StoredFact,
  version: number,
): string => sha256(JSON.stringify([first.commitId, taskId, id, version]), 'base64url').slice(0, 32);
