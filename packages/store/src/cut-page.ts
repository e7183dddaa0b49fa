import { weigh } from '@batonjs/lifecycle/internals';
import type { ListedTask, TaskPage, TaskQuery } from './task-store.ts';

/**
 * The page that `found` makes: the tasks of a query that follow `after`, in order, `limit` or more of them if there are.
 * Ends it at `limit` tasks, or at `bytes` (as `weigh` estimates them) after at least one. Pure.
 */
export function cutPage(
  found: readonly ListedTask[],
  { limit, bytes = Number.POSITIVE_INFINITY }: TaskQuery,
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
