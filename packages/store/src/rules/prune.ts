import type { TaskName } from '../port/names.ts';
import type { Erased } from '../port/task-store.ts';
import { type Found, foundOf, foundTask, type Step } from './change.ts';
import type { TaskRow } from './task-row.ts';

/** For how long a deletion is remembered, after which no reader is behind. */
const rememberedMs = 3_600_000;

/** The decision to remember that a log is about to be deleted. */
export const rememberStep = (bucket: string): Step<undefined, never> => ({
  wanted: { bucket },
  decide: ({ leaseNow }) => ({ result: undefined, fullAt: leaseNow + rememberedMs }),
});

/** Whether a log was deleted in the last hour. */
export const isDeletedStep = (bucket: string): Step<boolean, never> => ({
  wanted: { bucket },
  decide: ({ fullAt = 0, leaseNow }) => ({ result: fullAt > leaseNow }),
});

/** The logs that are to be remembered before they are deleted: of one that ended long ago, each reader knows the end. */
export const freshIn = (found: Found): readonly TaskRow[] =>
  foundOf(found, 'ended').filter(
    ({ head }) => head !== undefined && Date.parse(head.statusAt) > found.now - rememberedMs,
  );

/**
 * The decision to delete up to `limit` logs that ended before a time; resolves to how many. Leaves out those that would have
 * to be `remembered` and are not: they ended in this moment.
 */
export const pruneStep = (
  before: number,
  limit: number,
  remembered: readonly TaskName[],
): Step<number, never> => ({
  wanted: { ended: { before, limit } },
  decide: (found) => {
    const isRemembered = (row: TaskRow) =>
      remembered.some(({ scope, taskId }) => taskId === row.taskId && scope === row.scope);
    const unknown = new Set(freshIn(found).filter((row) => !isRemembered(row)));
    const ended = foundOf(found, 'ended').filter((row) => !unknown.has(row));
    if (ended.length === 0) return { result: 0 };
    return { result: ended.length, tasks: ended.map((before) => ({ before, after: undefined })) };
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
  wanted: { tasks: [{ scope, taskId }], webhooks: true },
  decide: (found) => {
    const { row: before, webhooks } = foundTask(found);
    if (!before) return { result: undefined };
    if (before.head && !before.head.closed && !evenOpen) return { result: 'open' };
    const result = { facts: before.version, webhooks: webhooks.length };
    return {
      result,
      tasks: [{ before, after: undefined }],
      notify: [{ scope, taskId, version: before.version }],
    };
  },
});
