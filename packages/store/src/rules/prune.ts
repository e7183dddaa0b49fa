import type { Scope, TaskName } from '../port/lease.ts';
import type { RecordRow } from '../port/rows.ts';
import { type Erased, topicNumber } from '../port/task-store.ts';
import {
  type Change,
  changedRow,
  type Found,
  foundOf,
  foundTask,
  type Replaced,
  type Step,
} from './change.ts';
import { foundRecord, rowAfter, seen } from './record.ts';

/** For how long a message whose task was deleted is known: as long as its client may send it again. */
const deletionMs = 86_400_000;

const deletions = 'deleted/';

/** How the names of the deletions of a scope begin: nothing of its own name stays. Two scopes share one number, not both. */
export const deletionsOf = (scope: Scope): string =>
  `${deletions}${topicNumber({ queue: scope })}-${topicNumber({ scope, taskId: '' })}/`;

/** The name of the record of a deletion, which lies beside the task. Ids of servers are plain and short. */
export function deletionOf({ scope, taskId }: TaskName): string {
  const isPlain = /^[\w.~-]{1,160}$/.test(taskId);
  return deletionsOf(scope) + (isPlain ? taskId : `=${topicNumber({ scope, taskId })}`);
}

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

/** Whether a record has the name of a deletion. */
export const isOfDeletion = (name: string): boolean => name.startsWith(deletions);

/** For how long readers are told of a deletion whose record is gone, after which none is behind. */
const rememberedMs = 3_600_000;

/** The bucket for readers of a deletion, by the name of its record, of which nothing stays in the files of a database. */
const bucketOf = (record: string): string => `deleted:${topicNumber({ queue: record })}`;

/** The decision to tell readers of a deletion without its record, before that or the log goes. */
export const rememberStep = (record: string): Step<undefined, never> => ({
  wanted: { bucket: bucketOf(record) },
  decide: ({ leaseNow }) => ({ result: undefined, fullAt: leaseNow + rememberedMs }),
});

/** Whether a deletion without a record is to be told to readers. */
export const isDeletedStep = (record: string): Step<boolean, never> => ({
  wanted: { bucket: bucketOf(record) },
  decide: ({ fullAt = 0, leaseNow }) => ({ result: fullAt > leaseNow }),
});

/**
 * The decision to delete up to `limit` logs that ended before a time; resolves to them. They are remembered unless that is
 * false, and records whose time is over make room.
 */
export const pruneStep = (
  before: number,
  limit: number,
  isRemembered = true,
): Step<readonly TaskName[], never> => ({
  wanted: { ended: { before, limit }, expired: { limit } },
  decide: (found) => {
    const ended = foundOf(found, 'ended');
    const records = foundOf(found, 'expired').map((before) => ({ before, after: undefined }));
    if (ended.length === 0) return { result: ended, ...(records.length > 0 && { records }) };
    const tasks = ended.map((before) => ({ before, after: undefined }));
    return isRemembered ? deletionsStep(ended, { result: ended, tasks, records }) : { result: ended, tasks };
  },
});

/** The decision to remember that these tasks were deleted, beside what else is written. */
export function deletionsStep<T>(
  tasks: readonly TaskName[],
  { records = [], ...change }: Change<T, never>,
): Step<T, never> {
  const names = tasks.map(deletionOf);
  return {
    wanted: { records: names },
    decide: (found) => ({
      ...change,
      records: [
        ...records.filter((one) => !names.includes(changedRow(one).name)),
        ...tasks.map((task, n) => remembered(task, foundOf(found, 'records')[n], found)),
      ],
    }),
  };
}

/**
 * The decision to delete one log, whenever it ended, and to remember it; resolves to what was deleted. `evenOpen`: whether
 * or not it ended, without a record.
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
