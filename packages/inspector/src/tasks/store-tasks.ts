import { mostCallers } from '@batonjs/operator';
import { listTasks, loadListed, taskRows, together } from '@batonjs/operator/search';
import { A2AError } from '@batonjs/protocol/errors';
import type { Scope, TaskPage } from '@batonjs/store';
import type { AgentStore } from '../agents/inspected.ts';
import { type StateCounts, states, type TaskFilter, type TaskRow } from '../api/task.ts';
import { RequestError } from '../http/reply.ts';
import { isIn, queryOf } from './filters.ts';
import type { TaskSource } from './task-feed.ts';

/** Tasks on a page. A store answers faster than an agent. */
const pageSize = 250;

/** Of more callers, states are not counted. */
const mostCounted = 20;

/** Of a store, only a wrong place in a list is refused so: no agent has answered. */
function refused(error: unknown): never {
  const isWrong = A2AError.is(error) && error.reason === 'INVALID_PARAMS';
  throw isWrong ? new RequestError(400, error.message) : error;
}

/** The tasks of an agent as its store lists them. */
export function storeTasks(store: AgentStore): TaskSource {
  const { tasks, queue, unserved } = store;
  const scopeAt = (index = 0) => {
    const found = store.scopes[index];
    if (!found) throw new RequestError(404, `There is no scope ${index}`);
    return found;
  };
  /** Those of a filter. */
  const chosen = (index: number | undefined) =>
    index === undefined ? store.scopes.slice(0, mostCallers).map((_, at) => at) : [index];
  const rowsOf = taskRows(tasks);
  const unservedIn = async (scope: Scope) => {
    // Without them, the list is still of use.
    const found = await unserved.read().catch(() => []);
    return new Map(found.flatMap((task) => (task.scope === scope ? [[task.taskId, task]] : [])));
  };
  const toRows = async (index: number, page: Pick<TaskPage, 'tasks'>): Promise<readonly TaskRow[]> => {
    const { scope, label } = scopeAt(index);
    const [rows, waiting] = await Promise.all([rowsOf(scope, page), unservedIn(scope)]);
    return rows.map((row) => ({
      ...row,
      ...(waiting.has(row.id) && { waitsFor: waiting.get(row.id)!.version }),
      ...(index > 0 && { scope: index }),
      ...(store.scopes.length > 1 && { caller: label }),
    }));
  };
  /** Those of one caller that wait for versions. */
  const unservedOf = async (index: number, filter: TaskFilter) => {
    const { scope } = scopeAt(index);
    const ids = [...(await unservedIn(scope)).keys()];
    const listed = await Promise.all(ids.map((taskId) => loadListed(tasks, scope, taskId)));
    const rows = (await toRows(index, { tasks: listed.flat() })).filter(isIn(filter));
    return { tasks: rows, total: rows.length };
  };
  return {
    get everyMs() {
      return 500 + 20 * Math.min(store.scopes.length - 1, mostCallers);
    },
    async list(filter, after) {
      await store.refresh();
      const some = chosen(filter.scope);
      if (filter.unserved)
        return {
          ...together(await Promise.all(some.map((index) => unservedOf(index, filter)))),
          source: 'live',
        };
      const indexes = new Map(some.map((index) => [scopeAt(index).scope, index]));
      const request = { ...queryOf(filter), search: filter, limit: pageSize, after };
      const rows = (scope: Scope, page: Pick<TaskPage, 'tasks'>) => toRows(indexes.get(scope)!, page);
      const list = await listTasks(tasks, [...indexes.keys()], request, rows).catch(refused);
      return { ...list, source: 'live' };
    },
    async counts(scope) {
      const counts: StateCounts = {};
      const some = chosen(scope);
      for (const state of some.length > mostCounted ? [] : states)
        for (const index of some) {
          const { total } = await tasks.list(scopeAt(index).scope, { state, limit: 1 });
          counts[state] = (counts[state] ?? 0) + total;
        }
      return counts;
    },
    async unserved(index) {
      const some = new Set(chosen(index).map((one) => scopeAt(one).scope));
      const found = (await unserved.read().catch(() => [])).filter(({ scope }) => some.has(scope));
      const versions = Map.groupBy(found, ({ version }) => version);
      return { queue, versions: [...versions].map(([version, { length }]) => ({ version, tasks: length })) };
    },
  };
}
