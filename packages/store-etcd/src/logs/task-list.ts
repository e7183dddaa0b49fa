import type { ListedTask, Scope, TaskPage } from '@batonjs/store';
import { cutPage, type ListSearch } from '@batonjs/store/adapter';
import { statesOf } from '@batonjs/store/rules';
import { isCompacted } from '../cluster/connections.ts';
import { stateIn } from '../layout/indexes.ts';
import { inside, newestFirst, type Range } from '../layout/keys.ts';
import { type Database, taskOf } from '../layout/known-task.ts';
import type { KeyValue } from '../wire/messages.ts';
import { factAt } from './logs.ts';

/** How many tasks of a page are read at once, unless its bytes are bounded. */
const atOnce = 32;
const atOnceBounded = 8;

/** Lists tasks by an index with a folder for each state. */
export async function listTasks(db: Database, scope: Scope, search: ListSearch): Promise<TaskPage> {
  for (;;) {
    try {
      return await readPage(db, scope, search);
    } catch (error) {
      // The moment of the page was compacted away while it was read.
      if (!isCompacted(Object(error).cause)) throw error;
    }
  }
}

/** How many keys of one list are looked up in the others at once. */
const lookedUpAtOnce = 256;

/** A task in a list: its place there, and its digest. */
interface Place {
  readonly place: string;
  readonly task: string;
}

/** The first places of a page, how many there are in all, and the revision of the cluster that has them. */
interface Found {
  readonly places: Place[];
  readonly total: number;
  readonly revision: number;
}

async function readPage(db: Database, scope: Scope, search: ListSearch): Promise<TaskPage> {
  const { contextId, terms, state, answered, statusSince, after, limit, bytes, totalAtMost, ...others } =
    search;
  others satisfies Record<string, never>;
  const { keys } = db;
  const lists = [
    ...(contextId === undefined ? [] : [keys.inContext(scope, contextId)]),
    ...terms.map((term) => keys.withTerm(scope, term)),
  ];
  const names = statesOf({ state, answered }).map(stateIn);
  const { places, total, revision } =
    lists.length > 1
      ? await findInAll(db, lists, names, search)
      : await findInOne(db, lists[0] ?? keys.inScope(scope), names, search);
  places.sort((a, b) => (a.place < b.place ? -1 : 1));
  const found = places.slice(0, limit).map(({ task }) => task);

  const tasks: ListedTask[] = [];
  const some = bytes === undefined ? atOnce : atOnceBounded;
  for (let start = 0; start < found.length; start += some) {
    tasks.push(...(await readTasks(db, found.slice(start, start + some), revision)));
    const page = cutPage(tasks, search, total);
    if (page.isCut) return page;
  }
  return cutPage(tasks, search, total);
}

/** The places in one list. */
async function findInOne(
  { cluster, keys }: Database,
  list: string,
  names: readonly string[],
  { statusSince, after, limit, totalAtMost }: ListSearch,
): Promise<Found> {
  const folders = names.map((name) => `${list}${name}/`);
  const all = folders.map((folder) => rangeIn(folder, statusSince));
  const { header, responses } = await cluster.transact({
    success: [
      ...all.map((range) => {
        // The first key behind that place.
        const key = after ? `${range.key}${keys.place(after.statusAt, after.taskId)}\0` : range.key;
        return { range: { ...range, key, limit } };
      }),
      ...(totalAtMost === 0 ? [] : all).map((range) => ({ range: { ...range, countOnly: true } })),
    ],
  });
  const total = responses.slice(folders.length).reduce((sum, { range }) => sum + range.count, 0);
  const places = folders.flatMap((folder, n) => placesIn(folder, responses[n]?.range.kvs));
  return { places, total, revision: header.revision };
}

/** The places in the shortest list that are in all others too: their number is known when it is read to its end. */
async function findInAll(
  { cluster, keys }: Database,
  lists: readonly string[],
  names: readonly string[],
  { statusSince, after, limit }: ListSearch,
): Promise<Found> {
  const { header, responses } = await cluster.transact({
    success: lists.map((list) => ({ range: { ...inside(list), countOnly: true } })),
  });
  const { revision } = header;
  const sizes = responses.map(({ range }) => range.count);
  const least = sizes.indexOf(Math.min(...sizes));
  const behind = after ? keys.place(after.statusAt, after.taskId) : '';
  const places: Place[] = [];
  let total = 0;
  for (const name of names) {
    const folder = `${lists[least]}${name}/`;
    const range = rangeIn(folder, statusSince);
    let shown = 0;
    for (let key = range.key; ; ) {
      const [{ kvs }] = await cluster.read([{ ...range, key, limit: lookedUpAtOnce, revision }]);
      let found = placesIn(folder, kvs);
      for (const [n, list] of lists.entries()) {
        if (n === least) continue;
        const looked = await cluster.getEach(found, ({ place }) => ({
          key: `${list}${name}/${place}`,
          revision,
        }));
        found = looked.flatMap(([one, kept]) => (kept ? [one] : []));
      }
      total += found.length;
      const next = found.filter(({ place }) => place > behind).slice(0, limit - shown);
      places.push(...next);
      shown += next.length;
      const last = kvs.at(-1);
      if (!last || kvs.length < lookedUpAtOnce) break;
      key = `${last.key}\0`;
    }
  }
  return { places, total, revision };
}

const placesIn = (folder: string, found: readonly KeyValue[] = []): Place[] =>
  found.map(({ key, value }) => ({ place: String(key).slice(folder.length), task: String(value) }));

/** The tasks in a folder of the index. The older, the larger the key: the end is behind all tasks of that time. */
function rangeIn(folder: string, statusSince: string | undefined): Range {
  const range = inside(folder);
  if (statusSince === undefined) return range;
  return { ...range, rangeEnd: `${folder}${newestFirst(Date.parse(statusSince))}0` };
}

/** Reads tasks as they were at the revision of the index. */
async function readTasks(db: Database, tasks: readonly string[], revision: number): Promise<ListedTask[]> {
  const { cluster, keys } = db;
  const rows = await cluster.getEach(tasks, (task) => ({ key: keys.task(task), revision }));
  const found = rows.flatMap(([task, kept]) => {
    const { taskId, head } = taskOf(kept).row ?? {};
    return taskId !== undefined && head ? [{ task, taskId, head }] : [];
  });
  const facts = await cluster.getEach(found, ({ task, head }) => ({
    ...inside(keys.facts(task)),
    key: keys.fact(task, head.statusVersion),
    limit: 1,
    revision,
  }));
  return Promise.all(
    facts.map(async ([{ task, taskId, head }, kept]) => {
      const fact = await factAt(db, task, head.statusVersion, kept);
      return { taskId, head, ...(fact && { fact }) };
    }),
  );
}
