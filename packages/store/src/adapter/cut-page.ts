import { weigh } from '@batonjs/lifecycle/internals';
import type { ListedTask, TaskPage, TaskQuery } from '../port/task-store.ts';

/**
 * Makes a page of `found`: the tasks of a query after `after`, in order, at least `limit` of them if so many exist.
 * The page ends at `limit` tasks, or at `bytes` (as `weigh` estimates them) but not before its first task. Pure.
 */
export function cutPage(
  found: readonly ListedTask[],
  { limit, bytes = Number.POSITIVE_INFINITY }: Pick<TaskQuery, 'limit' | 'bytes'>,
  total: number,
): TaskPage {
  const tasks = found.slice(0, limit);
  if (bytes === Number.POSITIVE_INFINITY) return { tasks, total };
  let left = bytes;
  const end = tasks.findIndex(({ fact }, n) => {
    left -= fact ? weigh(fact.fact) : 0;
    return left < 0 && n > 0;
  });
  return end === -1 ? { tasks, total } : { tasks: tasks.slice(0, end), total, isCut: true };
}
