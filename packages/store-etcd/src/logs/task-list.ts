import { cutPage, type ListedTask, type Scope, type TaskPage, type TaskQuery } from '@batonjs/store';
import { isCompacted } from '../cluster/etcd-error.ts';
import type { Database } from '../layout/database.ts';
import { stateIn } from '../layout/indexes.ts';
import { inside, type Range } from '../layout/keys.ts';
import { taskOf } from '../layout/known-task.ts';
import { newestFirst } from '../layout/order.ts';
import { factAt } from './logs.ts';

/** Each state has a folder of the index. */
const states = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_UNSPECIFIED',
] as const satisfies readonly TaskQuery['state'][];

/** How many tasks of a page are read at once, unless its bytes are bounded. */
const atOnce = 32;
const atOnceBounded = 8;

/** Lists tasks by an index with a folder for each state. */
export async function listTasks(db: Database, scope: Scope, query: TaskQuery): Promise<TaskPage> {
  for (;;) {
    try {
      return await readPage(db, scope, query);
    } catch (error) {
      // The moment of the page was compacted away while it was read.
      if (!isCompacted(Object(error).cause)) throw error;
    }
  }
}

async function readPage(db: Database, scope: Scope, query: TaskQuery): Promise<TaskPage> {
  const { contextId, state, answered, statusSince, after, limit, bytes, totalAtMost, ...others } = query;
  others satisfies Record<string, never>;
  const { cluster, keys } = db;
  const wanted = state === undefined ? [...states, ...(answered ? [undefined] : [])] : [state];
  const folders = wanted.map((one) => keys.listed(scope, contextId, stateIn(one)));
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
  const places = folders.flatMap((folder, n) =>
    (responses[n]?.range.kvs ?? []).map(({ key, value }) => ({
      place: String(key).slice(folder.length),
      task: String(value),
    })),
  );
  places.sort((a, b) => (a.place < b.place ? -1 : 1));
  const found = places.slice(0, limit).map(({ task }) => task);

  const tasks: ListedTask[] = [];
  const some = bytes === undefined ? atOnce : atOnceBounded;
  for (let start = 0; start < found.length; start += some) {
    tasks.push(...(await readTasks(db, found.slice(start, start + some), header.revision)));
    const page = cutPage(tasks, query, total);
    if (page.isCut) return page;
  }
  return cutPage(tasks, query, total);
}

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
