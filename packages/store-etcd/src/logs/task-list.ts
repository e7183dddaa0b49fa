import { cutPage, type ListedTask, type Scope, type TaskPage, type TaskQuery } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import { isCompacted } from '../cluster/etcd-error.ts';
import { stateIn } from '../layout/indexes.ts';
import { inside, type Keys } from '../layout/keys.ts';
import { taskOf } from '../layout/known-task.ts';
import { newestFirst } from '../layout/order.ts';
import type { RangeRequest } from '../wire/messages.ts';
import type { Logs } from './logs.ts';

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
export class TaskList {
  readonly #cluster: Cluster;
  readonly #keys: Keys;
  readonly #logs: Logs;

  constructor(cluster: Cluster, keys: Keys, logs: Logs) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#logs = logs;
  }

  async list(scope: Scope, query: TaskQuery): Promise<TaskPage> {
    for (;;) {
      try {
        return await this.#list(scope, query);
      } catch (error) {
        // The moment of the page was compacted away while it was read.
        if (!isCompacted(Object(error).cause)) throw error;
      }
    }
  }

  async #list(scope: Scope, query: TaskQuery): Promise<TaskPage> {
    const { contextId, state, answered, statusSince, after, limit, bytes, totalAtMost, ...others } = query;
    others satisfies Record<string, never>;
    const folders = this.#folders(scope, { contextId, state, answered });
    const counted = totalAtMost === 0 ? [] : folders;
    const { header, responses } = await this.#cluster.transact({
      success: [
        ...folders.map((folder) => ({ range: { ...this.#range(folder, { after, statusSince }), limit } })),
        ...counted.map((folder) => ({ range: { ...this.#range(folder, { statusSince }), countOnly: true } })),
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
      tasks.push(...(await this.#read(found.slice(start, start + some), header.revision)));
      const page = cutPage(tasks, query, total);
      if (page.isCut) return page;
    }
    return cutPage(tasks, query, total);
  }

  #folders(
    scope: Scope,
    { contextId, state, answered }: Pick<TaskQuery, 'contextId' | 'state' | 'answered'>,
  ): string[] {
    const wanted = state === undefined ? states : [state];
    const all = answered && state === undefined ? [...wanted, undefined] : wanted;
    return all.map((one) => this.#keys.listed(scope, contextId, stateIn(one)));
  }

  #range(folder: string, { after, statusSince }: Pick<TaskQuery, 'after' | 'statusSince'>): RangeRequest {
    const { key, rangeEnd } = inside(folder);
    return {
      // The first key behind that place.
      key: after ? `${folder}${this.#keys.place(after.statusAt, after.taskId)}\0` : key,
      // The older, the larger the key: the end is behind all tasks of that time.
      rangeEnd: statusSince === undefined ? rangeEnd : `${folder}${newestFirst(Date.parse(statusSince))}0`,
    };
  }

  /** Reads tasks as they were at the revision of the index. */
  async #read(tasks: readonly string[], revision: number): Promise<ListedTask[]> {
    const rows = await this.#cluster.getEach(tasks, (task) => ({ key: this.#keys.task(task), revision }));
    const found = rows.flatMap(([task, kept]) => {
      const { taskId, head } = taskOf(kept).row ?? {};
      return taskId !== undefined && head ? [{ task, taskId, head }] : [];
    });
    const facts = await this.#cluster.getEach(found, ({ task, head }) => ({
      ...inside(this.#keys.facts(task)),
      key: this.#keys.fact(task, head.statusVersion),
      limit: 1,
      revision,
    }));
    return Promise.all(
      facts.map(async ([{ task, taskId, head }, kept]) => {
        const fact = await this.#logs.factAt(task, head.statusVersion, kept);
        return { taskId, head, ...(fact && { fact }) };
      }),
    );
  }
}
