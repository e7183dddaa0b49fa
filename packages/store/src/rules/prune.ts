import type { TaskName } from '../port/names.ts';
import type { Erased } from '../port/task-store.ts';
import { foundOf, foundTask, type Step } from './change.ts';
import { deletionOf, remembered } from './deletion.ts';
import { foundRecord } from './record.ts';

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
