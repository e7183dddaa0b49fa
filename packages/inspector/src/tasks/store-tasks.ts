import { tryJson } from '@batonjs/protocol/json';
import { textOf } from '@batonjs/protocol/parts';
import type { ListedTask, Scope, TaskPage, TaskQuery, TaskStore } from '@batonjs/store';
import type { AgentStore } from '../agents/inspected.ts';
import type { UnservedTask } from '../agents/unserved-tasks.ts';
import { type StateCounts, states, type TaskRow } from '../api/task.ts';
import { RequestError } from '../http/reply.ts';
import { assignees } from './assignees.ts';
import { briefs } from './briefs.ts';
import { isIn, queryOf } from './filters.ts';
import { type FoundPage, readPages, shortText, type TaskSource } from './task-source.ts';
import { readLabels } from './title.ts';

/** Tasks on a page. A store answers faster than an agent. */
const pageSize = 250;

/** The tasks of an agent as its store lists them. */
export function storeTasks({ tasks, scopes, queue, unserved }: AgentStore): TaskSource {
  const scopeAt = (index = 0) => {
    const found = scopes[index];
    if (!found) throw new RequestError(404, `There is no scope ${index}`);
    return found.scope;
  };
  const withBriefs = briefs(tasks);
  const withAssignees = assignees(tasks);
  const unservedIn = async (scope: Scope) => {
    // Without them, the list is still of use.
    const found = await unserved.read().catch(() => []);
    return new Map(found.flatMap((task) => (task.scope === scope ? [[task.taskId, task]] : [])));
  };
  return {
    everyMs: 500,
    async list(filter, after) {
      const { text = '' } = filter;
      const scope = scopeAt(filter.scope);
      const query: TaskQuery = { limit: pageSize, ...queryOf(filter) };
      const waiting = await unservedIn(scope);
      const toRows = async (page: Pick<TaskPage, 'tasks'>) => {
        const rows = await withAssignees(scope, await withBriefs(scope, page.tasks.map(toRow)), page);
        return waiting.size === 0 ? rows : rows.map((row) => withVersion(row, waiting.get(row.id)));
      };
      if (filter.unserved) {
        const listed = await Promise.all(
          [...waiting.keys()].map((taskId) => loadListed(tasks, scope, taskId)),
        );
        const rows = (await toRows({ tasks: listed.flat() })).filter(isIn(filter)).sort(newestFirst);
        return { tasks: rows, total: rows.length, source: 'live' };
      }
      const read = async (from: string | undefined, more: Partial<TaskQuery> = {}): Promise<FoundPage> => {
        const place = readPlace(from);
        const page = await tasks.list(scope, { ...query, ...more, ...(place && { after: place }) });
        return { rows: await toRows(page), total: page.total, next: endOf(page) };
      };
      if (!text || !(await tasks.searchesText?.()))
        return { ...(await readPages(read, text, after, pageSize)), source: 'live' };
      const { rows, next } = await read(after, { text });
      // What else has the words, such as an id or an answer, is found among the newest tasks.
      const newest = after === undefined ? (await readPages(read, text, after, pageSize)).tasks : [];
      const found = new Set(rows.map(({ id }) => id));
      return {
        tasks: [...rows, ...newest.filter(({ id }) => !found.has(id))].sort(newestFirst),
        ...(next && { next }),
        source: 'live',
        searchesTexts: true,
      };
    },
    async counts(scope) {
      const counts: StateCounts = {};
      for (const state of states)
        counts[state] = (await tasks.list(scopeAt(scope), { state, limit: 1 })).total;
      return counts;
    },
    async unserved(scope) {
      const versions = Map.groupBy((await unservedIn(scopeAt(scope))).values(), ({ version }) => version);
      return { queue, versions: [...versions].map(([version, { length }]) => ({ version, tasks: length })) };
    },
  };
}

const withVersion = (row: TaskRow, unserved: UnservedTask | undefined): TaskRow =>
  unserved ? { ...row, waitsFor: unserved.version } : row;

/** A task as a page would have it; nothing if there is none any more. */
async function loadListed(store: TaskStore, scope: Scope, taskId: string): Promise<readonly ListedTask[]> {
  const log = await store.load(scope, taskId);
  if (!log) return [];
  const fact = log.facts.find(({ version }) => version === log.head.statusVersion);
  return [{ taskId, head: log.head, ...(fact && { fact }) }];
}

type Place = NonNullable<TaskQuery['after']>;

/** Where a page ended; undefined if none follows. */
function endOf({ tasks, isCut }: TaskPage): string | undefined {
  const last = tasks.at(-1);
  if (!last || (tasks.length < pageSize && !isCut)) return undefined;
  return JSON.stringify({ statusAt: last.head.statusAt, taskId: last.taskId } satisfies Place);
}

const newestFirst = ({ statusAt: one = '' }: TaskRow, { statusAt: other = '' }: TaskRow): number =>
  one < other ? 1 : one > other ? -1 : 0;

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

function readPlace(text: string | undefined): Place | undefined {
  if (text === undefined) return undefined;
  const { statusAt, taskId } = Object(tryJson(text)) as Record<string, unknown>;
  if (typeof statusAt === 'string' && typeof taskId === 'string') return { statusAt, taskId };
  throw new RequestError(400, 'This is no place in a list of tasks');
}
