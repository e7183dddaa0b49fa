import type { Scope, TaskName } from '../port/names.ts';
import { topicNumber } from '../port/topic-number.ts';
import type { Found, Replaced } from './change.ts';
import { rowAfter, seen } from './record.ts';
import type { RecordRow } from './record-row.ts';

/** For how long a message whose task was deleted is known: as long as its client may send it again. */
const rememberedMs = 86_400_000;

/** How the names of the deletions of a scope begin: nothing of its own name stays. */
export const deletionsOf = (scope: Scope): string => `deleted/${topicNumber({ queue: scope })}/`;

/** The name of the record of a deletion, which lies beside the task. Ids of servers are plain and short. */
export function deletionOf({ scope, taskId }: TaskName): string {
  const isPlain = /^[\w.~-]{1,160}$/.test(taskId);
  return deletionsOf(scope) + (isPlain ? taskId : `=${topicNumber({ scope, taskId })}`);
}

/** The bucket that remembers an erasure, for readers. Nothing of the name of the task stays in the files of a database. */
export const bucketOf = ({ scope, taskId }: TaskName): string => `deleted:${topicNumber({ scope, taskId })}`;

/** Whether the record of a deletion says that the task was deleted a short time ago. */
export const isDeletion = (row: RecordRow | undefined, found: Found): boolean =>
  seen(row, found) !== undefined;

/** What is kept of a task that is deleted now. `before`: of an earlier task of its name. */
export const remembered = (
  task: TaskName,
  before: RecordRow | undefined,
  { now }: Pick<Found, 'now'>,
): Replaced<RecordRow> => ({
  before,
  after: rowAfter(before, deletionOf(task), 'true', now, { ttlMs: rememberedMs }),
});
