import type { TaskName } from '../port/names.ts';
import type { Erased } from '../port/task-store.ts';
import { foundOf, foundTask, type Step } from './change.ts';

/** The decision to delete up to `limit` logs that ended before a time; resolves to how many. */
export const pruneStep = (before: number, limit: number): Step<number, never> => ({
  wanted: { ended: { before, limit } },
  decide: (found) => {
    const ended = foundOf(found, 'ended');
    if (ended.length === 0) return { result: 0 };
    return { result: ended.length, tasks: ended.map((before) => ({ before, after: undefined })) };
  },
});

/** The decision to delete one log, whenever it ended; resolves to what was deleted. */
export const eraseStep = ({ scope, taskId }: TaskName): Step<Erased | 'open' | undefined, never> => ({
  wanted: { tasks: [{ scope, taskId }], webhooks: true },
  decide: (found) => {
    const { row: before, webhooks } = foundTask(found);
    if (!before) return { result: undefined };
    if (before.head && !before.head.closed) return { result: 'open' };
    const result = { facts: before.version, webhooks: webhooks.length };
    return {
      result,
      tasks: [{ before, after: undefined }],
      notify: [{ scope, taskId, version: before.version }],
    };
  },
});
