import { remember } from '@batonjs/protocol/bounded-map';
import { textOf } from '@batonjs/protocol/parts';
import type { ListedTask, Scope, StoredFact, TaskPage, TaskQuery, TaskStore } from '@batonjs/store';
import type { AgentStore, UnservedTask } from '../agents/inspected.ts';
import { type Assignee, type StateCounts, states, type TaskFilter, type TaskRow } from '../api/task.ts';
import { RequestError } from '../http/reply.ts';
import { isIn, lookedAt, queryOf, readLabels, titleOf } from './filters.ts';
import { type FoundPage, readPages, searchedAtOnce, shortText, type TaskSource } from './task-feed.ts';
import { newestFirst, type Place, readPlace, together } from './together.ts';

/** Tasks on a page. A store answers faster than an agent. */
const pageSize = 250;

/** Of how many callers tasks are listed at once: those that are known longest. */
export const mostCallers = 200;
/** Of more callers, states are not counted. */
const mostCounted = 20;

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
  const withBriefs = briefs(tasks);
  const withAssignees = assignees(tasks);
  const withLastSaid = withLast(tasks);
  const unservedIn = async (scope: Scope) => {
    // Without them, the list is still of use.
    const found = await unserved.read().catch(() => []);
    return new Map(found.flatMap((task) => (task.scope === scope ? [[task.taskId, task]] : [])));
  };
  /** The list of one caller. `among`: of so many it is one, whose lists are put together. */
  const listOf = async (index: number, filter: TaskFilter, after: string | undefined, among: number) => {
    const { text = '' } = filter;
    const { scope, label } = scopeAt(index);
    const limit = Math.max(Math.min(pageSize, 25), Math.ceil(pageSize / among));
    const query: TaskQuery = { limit, ...queryOf(filter) };
    const waiting = await unservedIn(scope);
    const toRows = async (page: Pick<TaskPage, 'tasks'>) => {
      const known = await withLastSaid(scope, page.tasks.map(toRow), page);
      const rows = await withAssignees(scope, await withBriefs(scope, known), page);
      return rows.map((row) => ({
        ...withVersion(row, waiting.get(row.id)),
        ...(index > 0 && { scope: index }),
        ...(store.scopes.length > 1 && { caller: label }),
      }));
    };
    if (filter.unserved) {
      const listed = await Promise.all([...waiting.keys()].map((taskId) => loadListed(tasks, scope, taskId)));
      const rows = (await toRows({ tasks: listed.flat() })).filter(isIn(filter)).sort(newestFirst);
      return { tasks: rows, total: rows.length };
    }
    const read = async (from: string | undefined, more: Partial<TaskQuery> = {}): Promise<FoundPage> => {
      const place = readPlace(from);
      const page = await tasks.list(scope, { ...query, ...more, ...(place && { after: place }) });
      return { rows: await toRows(page), total: page.total, next: endOf(page, limit) };
    };
    const pages = (most: number) => readPages(read, lookedAt(filter), after, limit, most);
    if (!text || !(await tasks.searchesText?.())) return pages(Math.ceil(searchedAtOnce / among));
    const { rows, next } = await read(after, { text });
    const isRight = lookedAt({ ...filter, text: '' }) ?? (() => true);
    // What else has the words, such as an id or an answer, is found on the page that a list begins with.
    const newest = after === undefined ? (await pages(1)).tasks : [];
    const found = new Map([...newest, ...rows.filter(isRight)].map((row) => [row.id, row]));
    if (found.size === 0 && !/\s/.test(text))
      for (const row of await toRows({ tasks: await loadListed(tasks, scope, text) }))
        if (isIn(filter)(row)) found.set(row.id, row);
    return {
      tasks: [...found.values()].sort(newestFirst),
      ...(next && { next }),
      searchesTexts: true as const,
    };
  };
  return {
    get everyMs() {
      return 500 + 20 * Math.min(store.scopes.length - 1, mostCallers);
    },
    async list(filter, after) {
      await store.refresh();
      const some = chosen(filter.scope);
      const lists = await Promise.all(some.map((index) => listOf(index, filter, after, some.length)));
      return { ...(lists.length === 1 ? lists[0]! : together(lists)), source: 'live' };
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

const withVersion = (row: TaskRow, unserved: UnservedTask | undefined): TaskRow =>
  unserved ? { ...row, waitsFor: unserved.version } : row;

/** A task as a page would have it; nothing if there is none any more. */
async function loadListed(store: TaskStore, scope: Scope, taskId: string): Promise<readonly ListedTask[]> {
  const log = await store.load(scope, taskId);
  if (!log) return [];
  const fact = log.facts.find(({ version }) => version === log.head.statusVersion);
  return [{ taskId, head: log.head, ...(fact && { fact }) }];
}

/** Where a page ended; undefined if none follows. */
function endOf({ tasks, isCut }: TaskPage, limit: number): string | undefined {
  const last = tasks.at(-1);
  if (!last || (tasks.length < limit && !isCut)) return undefined;
  return JSON.stringify({ statusAt: last.head.statusAt, taskId: last.taskId } satisfies Place);
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

/** What an agent threw, or made last, stands at most so many facts before the status that ends the task. */
const factsBefore = 5;

/** Adds to the rows of failed tasks what the agent threw, and to those of tasks completed without a word what it made last. */
const withLast = (store: Pick<TaskStore, 'readFacts'>) =>
  adding(
    ({ state, text }) => state === 'TASK_STATE_FAILED' || (state === 'TASK_STATE_COMPLETED' && !text),
    async ({ scope, row: { id, state }, statusVersion }) => {
      const after = Math.max(0, statusVersion - factsBefore);
      const facts = await store.readFacts(scope, id, after, factsBefore);
      const wanted = state === 'TASK_STATE_FAILED' ? 'turn-failed' : 'artifact-updated';
      const fact = facts.findLast(({ fact: { type } }) => type === wanted)?.fact;
      if (fact?.type === 'turn-failed') return { text: shortText(fact.message) };
      if (fact?.type !== 'artifact-updated') return {};
      const text = textOf(fact.artifact) || (fact.artifact.name ?? '');
      return text === '' ? {} : { text: shortText(`${fact.append ? '…' : ''}${text}`) };
    },
  );

/** What the first fact of a task says of it. It never changes. */
export type Brief = Pick<TaskRow, 'title' | 'startedAt'>;

/** How many tasks are remembered: those of the pages that are looked at. */
const most = 20_000;

/** Adds to rows what their tasks are about. One whose log cannot be read stays as it is. */
export function briefs(store: Pick<TaskStore, 'readFacts'>) {
  const read = remembered(
    most,
    ({ scope, id }: { readonly scope: Scope; readonly id: string }) => `${scope} ${id}`,
    async ({ scope, id }): Promise<Brief | undefined> => {
      const [first] = await store.readFacts(scope, id, 0, 1);
      if (!first) return undefined;
      const { fact } = first;
      const title = fact.type === 'message-received' ? titleOf(fact.message) : undefined;
      return { startedAt: fact.at, ...(title !== undefined && { title }) };
    },
  );
  return async (scope: Scope, rows: readonly TaskRow[]): Promise<TaskRow[]> => {
    const found = await read(rows.map(({ id }) => ({ scope, id })));
    return rows.map((row, index) => ({ ...found[index], ...row }));
  };
}

/** How many tasks with something to add are remembered. */
const mostAdded = 5_000;
/** How many facts are read: those just before the question, where an agent makes links, and those after it. */
const facts = { before: 20, after: 80 };

/** Adds to the rows of a page the people that have their questions by links. A log that cannot be read names no one. */
export const assignees = (store: Pick<TaskStore, 'readFacts'>) =>
  adding(
    ({ state }) => state === 'TASK_STATE_INPUT_REQUIRED',
    async ({ scope, row: { id }, statusVersion }) => {
      const after = Math.max(0, statusVersion - facts.before);
      const people = assigneesIn(await store.readFacts(scope, id, after, facts.before + facts.after));
      return people.length > 0 ? { assignees: people } : {};
    },
  );

/** A row, and where its status stands in the log. */
interface Placed {
  readonly scope: Scope;
  readonly row: TaskRow;
  readonly statusVersion: number;
}

/** Adds to the rows of a page that want it what `read` finds in their logs. */
function adding(wants: (row: TaskRow) => boolean, read: (placed: Placed) => Promise<Partial<TaskRow>>) {
  const keyOf = ({ scope, row: { id, version = 0 } }: Placed) => `${scope} ${id} ${version}`;
  const readAll = remembered(mostAdded, keyOf, read);
  return async (scope: Scope, rows: readonly TaskRow[], { tasks }: Pick<TaskPage, 'tasks'>) => {
    const placed = rows.flatMap((row, index): Placed[] =>
      wants(row) ? [{ scope, row, statusVersion: tasks[index]?.head.statusVersion ?? 0 }] : [],
    );
    const found = await readAll(placed);
    const added = new Map(placed.map(({ row }, index) => [row, found[index]]));
    return rows.map((row): TaskRow => ({ ...row, ...added.get(row) }));
  };
}

/** Who was asked since the latest message of a client, each once. */
function assigneesIn(read: readonly StoredFact[]): readonly Assignee[] {
  const asked = new Map<string, Assignee>();
  for (const { fact } of read) {
    if (fact.type === 'message-received') asked.clear();
    if (fact.type === 'callback-opened' && fact.answers)
      asked.set(fact.answers.by, { by: fact.answers.by, expiresAt: fact.expiresAt });
  }
  return [...asked.values()];
}

/** How many logs are read at once. */
const atOnce = 32;

/**
 * Reads something of logs, in their order, and remembers the latest results. A log that cannot be read gives undefined, and
 * is read again the next time.
 */
function remembered<Log, Value>(
  most: number,
  keyOf: (log: Log) => string,
  read: (log: Log) => Promise<Value | undefined>,
): (logs: readonly Log[]) => Promise<readonly (Value | undefined)[]> {
  const known = new Map<string, Value>();
  const readOne = async (log: Log): Promise<Value | undefined> => {
    const value = await read(log).catch(() => undefined);
    if (value === undefined) return undefined;
    remember(known, keyOf(log), value, most);
    return value;
  };
  return async (logs) => {
    const values: (Value | undefined)[] = [];
    for (let from = 0; from < logs.length; from += atOnce) {
      const part = logs.slice(from, from + atOnce).map((log) => known.get(keyOf(log)) ?? readOne(log));
      // Known results are not awaited: the list is read again twice a second.
      const isKnown = part.every((value) => !(value instanceof Promise));
      values.push(...(isKnown ? (part as Value[]) : await Promise.all(part)));
    }
    return values;
  };
}
