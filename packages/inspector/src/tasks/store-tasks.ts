import { textOf } from '@batonjs/protocol/parts';
import type { ListedTask, TaskPage, TaskQuery } from '@batonjs/store';
import type { AgentStore } from '../agents/inspected.ts';
import { type StateCounts, states, type TaskRow } from '../api/task.ts';
import { RequestError } from '../http/reply.ts';
import { Briefs } from './briefs.ts';
import { queryOf } from './filters.ts';
import { searchedAtOnce, shortText, type TaskSource } from './task-source.ts';
import { hasText, readLabels } from './title.ts';

/** Tasks on a page. A store answers faster than an agent. */
const pageSize = 250;

/** The tasks of an agent as its store lists them. */
export function storeTasks({ tasks, scopes }: AgentStore): TaskSource {
  const scopeAt = (index = 0) => {
    const found = scopes[index];
    if (!found) throw new RequestError(404, `There is no scope ${index}`);
    return found.scope;
  };
  const briefs = new Briefs(tasks);
  return {
    everyMs: 500,
    async list(filter, after) {
      const { text = '', scope } = filter;
      const query: TaskQuery = { limit: pageSize, ...queryOf(filter) };
      const rows: TaskRow[] = [];
      let place = readPlace(after);
      for (let searched = 0; ; ) {
        const page: TaskPage = await tasks.list(scopeAt(scope), { ...query, ...(place && { after: place }) });
        const found = await briefs.addTo(scopeAt(scope), page.tasks.map(toRow));
        rows.push(...(text ? found.filter(hasText(text)) : found));
        searched += page.tasks.length;
        const last = page.tasks.at(-1);
        const isLast = !last || (page.tasks.length < query.limit && !page.isCut);
        place = last && { statusAt: last.head.statusAt, taskId: last.taskId };
        if (isLast) return { tasks: rows, ...(!text && { total: page.total }), source: 'live' };
        if (!text || rows.length >= pageSize || searched >= searchedAtOnce)
          return {
            tasks: rows,
            ...(!text && { total: page.total }),
            next: JSON.stringify(place),
            source: 'live',
          };
      }
    },
    async counts(scope) {
      const counts: StateCounts = {};
      for (const state of states)
        counts[state] = (await tasks.list(scopeAt(scope), { state, limit: 1 })).total;
      return counts;
    },
  };
}

/** The row of a task in a store. */
export function toRow({ taskId, head, fact }: ListedTask): TaskRow {
  const status = fact?.fact.type === 'status-changed' ? fact.fact.status : undefined;
  return {
    id: taskId,
    contextId: head.contextId,
    state: head.state ?? 'TASK_STATE_UNSPECIFIED',
    statusAt: head.statusAt,
    version: head.version,
    turn: head.turn,
    attempt: head.attempt,
    ...readLabels(head.labels),
    ...(head.dueAt !== undefined && { dueAt: head.dueAt }),
    ...(head.code !== undefined && { code: head.code }),
    ...(status?.message && { text: shortText(textOf(status.message)) }),
  };
}

function readPlace(text: string | undefined): TaskQuery['after'] {
  if (text === undefined) return undefined;
  try {
    const { statusAt, taskId } = JSON.parse(text) as Record<string, unknown>;
    if (typeof statusAt === 'string' && typeof taskId === 'string') return { statusAt, taskId };
  } catch {
    // Said below.
  }
  throw new RequestError(400, 'This is no place in a list of tasks');
}
