import type { Scope, TaskName } from '../port/names.ts';
import type { Erased } from '../port/task-store.ts';
import { topicNumber } from '../port/topic-number.ts';
import { type Found, foundOf, foundTask, type Replaced, type Step } from './change.ts';
import { foundRecord, rowAfter, seen } from './record.ts';
import type { RecordRow } from './record-row.ts';

/** For how long a message whose task was deleted is known: as long as its client may send it again. */
const deletionMs = 86_400_000;

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

/** The write of the record of a task that is deleted now. `before`: the record of an earlier task of its name. */
export const remembered = (
  task: TaskName,
  before: RecordRow | undefined,
  { now }: Pick<Found, 'now'>,
): Replaced<RecordRow> => ({
  before,
  after: rowAfter(before, deletionOf(task), 'true', now, { ttlMs: deletionMs }),
});

/** For how long an erasure is remembered when all of its caller is erased, after which no reader is behind. */
const rememberedMs = 3_600_000;

/** The decision to remember that a log is about to be erased. */
export const rememberStep = (bucket: string): Step<undefined, never> => ({
  wanted: { bucket },
  decide: ({ leaseNow }) => ({ result: undefined, fullAt: leaseNow + rememberedMs }),
});

/** Whether a log was erased in the last hour. */
export const isDeletedStep = (bucket: string): Step<boolean, never> => ({
  wanted: { bucket },
  decide: ({ fullAt = 0, leaseNow }) => ({ result: fullAt > leaseNow }),
});

/**
 * The decision to delete up to `limit` logs that ended before a time; resolves to how many. They are remembered unless
 * that is false, and records whose time is over make room.
 */
export const pruneStep = (before: number, limit: number, isRemembered = true): Step<number, never> => ({
  wanted: { ended: { before, limit }, expired: { limit } },
  decide: (found) => {
    const ended = foundOf(found, 'ended');
    const over = foundOf(found, 'expired').map((before) => ({ before, after: undefined }));
    if (ended.length === 0) return { result: 0, ...(over.length > 0 && { records: over }) };
    const tasks = ended.map((before) => ({ before, after: undefined }));
    if (!isRemembered) return { result: ended.length, tasks };
    const names = ended.map(deletionOf);
    return {
      wanted: { records: names },
      decide: (more) => ({
        result: ended.length,
        tasks,
        records: [
          ...over.filter(({ before }) => !names.includes(before.name)),
          ...ended.map((task, n) => remembered(task, foundOf(more, 'records')[n], found)),
        ],
      }),
    };
  },
});

/**
 * The decision to delete one log, whenever it ended; resolves to what was deleted. It is to be remembered before.
 * `evenOpen`: whether or not it ended.
 */
export const eraseStep = (
  { scope, taskId }: TaskName,
  evenOpen = false,
): Step<Erased | 'open' | undefined, never> => ({
  wanted: { tasks: [{ scope, taskId }], webhooks: true, records: [deletionOf({ scope, taskId })] },
  decide: (found) => {
    const { row: before, webhooks } = foundTask(found);
    if (!before) return { result: undefined };
    if (before.head && !before.head.closed && !evenOpen) return { result: 'open' };
    const result = { facts: before.version, webhooks: webhooks.length };
    return {
      result,
      tasks: [{ before, after: undefined }],
      ...(!evenOpen && { records: [remembered(before, foundRecord(found), found)] }),
      notify: [{ scope, taskId, version: before.version }],
    };
  },
});
