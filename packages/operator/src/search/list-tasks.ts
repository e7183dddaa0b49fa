import { A2AError } from '@batonjs/protocol/errors';
import type { ListedTask, Scope, TaskPage, TaskQuery, TaskStore } from '@batonjs/store';
import { newestFirst as inOrder, isListed, listSearch } from '@batonjs/store/rules';
import type { TaskSearch } from './language.ts';
import { lookedAt } from './row-tests.ts';
import type { TaskRow } from './task-rows.ts';

/** A page of a list, as it was searched. */
export interface RowList<Row> {
  readonly tasks: readonly Row[];
  /** How many match; absent if the agent does not say, or where rows were looked at one by one. */
  readonly total?: number | undefined;
  /** Where the next page starts; absent or empty if none follows. */
  readonly next?: string | undefined;
  /** A text was searched in the first messages of all tasks. */
  readonly searchesTexts?: true;
  /** How many tasks were looked through one by one, newest first, and of how many; absent where an index has all of them. */
  readonly searched?: { readonly tasks: number; readonly of?: number | undefined };
}

/** Where a page of a list ends. */
type Place = NonNullable<TaskQuery['after']>;

export const printPlace = ({ statusAt, taskId }: Place): string => `${statusAt},${taskId}`;

/** Reads what {@link printPlace} wrote. Throws `INVALID_PARAMS` for anything else. */
export function readPlace(text: string | undefined): Place | undefined {
  if (text === undefined) return undefined;
  const [, statusAt, taskId] = /^(\d[^,]*),(.+)$/s.exec(text) ?? [];
  if (statusAt && taskId) return { statusAt, taskId };
  throw new A2AError('INVALID_PARAMS', 'This is no place in a list of tasks');
}

type Listed = Pick<TaskRow, 'id' | 'statusAt'>;

const placeOf = ({ id: taskId, statusAt = '' }: Listed): Place => ({ statusAt, taskId });

/** The order of a list. */
export const newestFirst = (one: Listed, other: Listed): number => inOrder(placeOf(one), placeOf(other));

/** How many tasks are looked through for a text before the reader has to ask for more. */
const searchedAtOnce = 2_000;

/** Reads a page; where each row is looked at, pages until enough are found. */
export async function readPages<Row>(
  read: (after: string | undefined) => Promise<RowList<Row>>,
  isFound: ((row: Row) => boolean) | undefined,
  after: string | undefined,
  enough: number,
  most = searchedAtOnce,
): Promise<RowList<Row>> {
  const found: Row[] = [];
  let place = after;
  for (let searched = 0; ; ) {
    const { tasks, total: of, next } = await read(place);
    found.push(...(isFound ? tasks.filter(isFound) : tasks));
    searched += tasks.length;
    place = next || undefined;
    if (isFound && place && found.length < enough && searched < most) continue;
    return {
      tasks: found,
      next: place,
      ...(isFound ? { searched: { tasks: searched, of } } : { total: of }),
    };
  }
}

/** One list of those of several callers. It ends where the first of them goes on: what follows may be newer than the others'. */
export function together<Row extends Listed>(lists: readonly RowList<Row>[]): RowList<Row> {
  const places = lists.flatMap(({ next }) => readPlace(next) ?? []);
  const [end] = places.sort(inOrder);
  const rows = lists.flatMap(({ tasks }) => tasks).sort(newestFirst);
  const tasks = end ? rows.filter((row) => inOrder(placeOf(row), end) <= 0) : rows;
  const sum = (numbers: readonly (number | undefined)[]) =>
    numbers.reduce<number>((all, one = 0) => all + one, 0);
  const searched = lists.flatMap((list) => list.searched ?? []);
  const of = sum(searched.map((one) => one.of));
  return {
    tasks,
    ...(lists.every(({ total }) => total !== undefined) && { total: sum(lists.map(({ total }) => total)) }),
    ...(searched.length > 0 && { searched: { tasks: sum(searched.map((one) => one.tasks)), of } }),
    ...(lists.some((list) => list.searchesTexts) && { searchesTexts: true }),
    ...(end && { next: printPlace(end) }),
  };
}

type Searched = { readonly search: TaskSearch; readonly after?: string | undefined };

/**
 * Lists the tasks of several callers as one list, the newest first: those that a store finds by `query`, as far as the
 * rest of the search finds them. `after` is the `next` of the page before. Throws `INVALID_PARAMS` for another one.
 */
export async function listTasks<Row extends TaskRow>(
  store: TaskStore,
  scopes: readonly Scope[],
  { search, after, ...query }: Omit<TaskQuery, keyof Searched | 'text'> & Searched,
  toRows: (scope: Scope, page: Pick<TaskPage, 'tasks'>) => Promise<readonly Row[]>,
): Promise<RowList<Row>> {
  const limit = Math.max(Math.min(query.limit, 25), Math.ceil(query.limit / scopes.length));
  const isFound = lookedAt(search);
  const listOf = async (scope: Scope): Promise<RowList<Row>> => {
    const read = async (from: string | undefined, text?: Pick<TaskQuery, 'text'>): Promise<RowList<Row>> => {
      const place = readPlace(from);
      const page = await store.list(scope, { ...query, limit, ...text, ...(place && { after: place }) });
      const last = page.tasks.length < limit && !page.isCut ? undefined : page.tasks.at(-1);
      const next = last && printPlace({ statusAt: last.head.statusAt, taskId: last.taskId });
      return { tasks: await toRows(scope, page), total: page.total, next };
    };
    const pages = (most: number) => readPages(read, isFound, after, limit, most);
    const { text } = search;
    if (!text || !(await store.searchesText?.())) return pages(Math.ceil(searchedAtOnce / scopes.length));
    const { tasks, next } = await read(after, { text });
    const isRight = lookedAt({ ...search, text: '' }) ?? (() => true);
    // What else has the words, such as an id or an answer, is found on the page that a list begins with; of several
    // callers on each page: the rows of one may stand below the end of another's.
    const newest = after === undefined || scopes.length > 1 ? (await pages(1)).tasks : [];
    const found = new Map([...newest, ...tasks.filter(isRight)].map((row) => [row.id, row]));
    if (found.size === 0 && !/\s/.test(text)) {
      const known = await loadListed(store, scope, text);
      const place = readPlace(after);
      const fitting = known
        .filter((task) => isListed(task, listSearch({ ...query, limit })))
        .filter(({ taskId, head: { statusAt } }) => !place || inOrder({ statusAt, taskId }, place) > 0);
      for (const row of await toRows(scope, { tasks: fitting })) if (isRight(row)) found.set(row.id, row);
    }
    return { tasks: [...found.values()].sort(newestFirst), next, searchesTexts: true };
  };
  const lists = await Promise.all(scopes.map(listOf));
  return lists.length === 1 ? lists[0]! : together(lists);
}

/** A task as a page would have it; nothing if there is none any more. */
export async function loadListed(store: TaskStore, scope: Scope, taskId: string): Promise<ListedTask[]> {
  const log = await store.load(scope, taskId);
  if (!log) return [];
  const fact = log.facts.find(({ version }) => version === log.head.statusVersion);
  return [{ taskId, head: log.head, ...(fact && { fact }) }];
}
