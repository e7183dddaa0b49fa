import type { ListedTask, Scope, TaskPage } from '@batonjs/store';
import type { ListSearch } from '@batonjs/store/adapter';
import { statesOf } from '@batonjs/store/rules';
import { listedFact } from '@batonjs/store/sql';
import { groupsOf, listOf } from '../connection/driver.ts';
import { type Database, script } from '../database/database.ts';
import type { Shard } from '../database/shards.ts';
import { list as source } from '../lua/list.ts';
import { toFact } from './logs.ts';

const listScript = script(source);

type Place = NonNullable<ListSearch['after']>;

/** The part of a page that one shard offers. */
interface Offer {
  readonly shard: Shard;
  readonly total: number;
  readonly tasks: { readonly task: ListedTask; readonly bytes: number }[];
  /** Whether the shard may have more after these. */
  more: boolean;
  /** Whether it offered fewer tasks than the limit because they are large. */
  readonly isCut: boolean;
}

/** Lists tasks: reads every shard after the same task, and merges the results. */
export class TaskList {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list(scope: Scope, search: ListSearch): Promise<TaskPage> {
    const { all } = await this.#database.shards();
    const { limit, bytes = Number.POSITIVE_INFINITY } = search;
    // A page comes from all shards in about equal parts. A shard that has to give more is read again.
    const share = all.length === 1 ? limit : Math.min(limit, 2 + Math.ceil((2 * limit) / all.length));
    const offers = await Promise.all(all.map((shard) => this.#offer(shard, scope, search, share)));
    const total = offers.reduce((sum, offer) => sum + offer.total, 0);
    const [first] = offers;
    if (first && offers.length === 1) {
      const { tasks, isCut } = first;
      return { tasks: tasks.map(({ task }) => task), total, ...(isCut && { isCut }) };
    }
    const tasks: ListedTask[] = [];
    let left = bytes;
    while (tasks.length < limit) {
      const best = offers.reduce((one, other) =>
        isBefore(other.tasks[0]?.task, one.tasks[0]?.task) ? other : one,
      );
      const next = best.tasks.shift();
      if (!next) break;
      const { task, bytes } = next;
      left -= bytes;
      if (left < 0 && tasks.length > 0) return { tasks, total, isCut: true };
      tasks.push(task);
      if (best.tasks.length > 0 || !best.more) continue;
      const after = { statusAt: task.head.statusAt, taskId: task.taskId };
      const further = await this.#offer(best.shard, scope, { ...search, after }, share);
      best.tasks.push(...further.tasks);
      best.more = further.more;
    }
    return { tasks, total };
  }

  async #offer(shard: Shard, scope: Scope, search: ListSearch, limit: number): Promise<Offer> {
    // The whole page has the limit; a total costs the same with `totalAtMost`.
    const {
      contextId,
      state,
      statusSince,
      after,
      answered,
      terms,
      bytes,
      limit: _,
      totalAtMost,
      ...others
    } = search;
    others satisfies Record<string, never>;
    const states = statesOf({ state, answered });
    const reply = await this.#database.ofShard(listScript, shard, [
      scope,
      statusSince === undefined ? '-inf' : String(Date.parse(statusSince)),
      String(limit),
      after ? String(Date.parse(after.statusAt)) : '',
      after?.taskId ?? '',
      bytes === undefined ? 'inf' : String(bytes),
      String(states.length),
      ...states,
      ...placesOf(scope, contextId, terms),
    ]);
    const [total, cut, ...members] = listOf(reply);
    const tasks = groupsOf(members, 3).map(([taskId = '', row = '', entry = '']) => {
      const { head }: Pick<ListedTask, 'head'> = JSON.parse(row);
      const fact = listedFact(() => toFact(entry, head.statusVersion));
      return { task: { taskId, head, fact }, bytes: entry.length };
    });
    const isCut = cut === 1;
    return { shard, total: Number(total), tasks, isCut, more: isCut || tasks.length === limit };
  }
}

/** The lists that tasks of a search are in, each without its state. */
function placesOf(scope: Scope, contextId: string | undefined, terms: readonly string[]): string[] {
  const places = terms.map((term) => `term:${scope}\0${term}\0`);
  if (contextId !== undefined) places.unshift(`context:${scope}\0${contextId}\0`);
  return places.length > 0 ? places : [`list:${scope}\0`];
}

/** Whether a task comes before another one. A missing task comes last. */
function isBefore(a: ListedTask | undefined, b: ListedTask | undefined): boolean {
  if (!a || !b) return a !== undefined;
  const [one, other] = [placeOf(a), placeOf(b)];
  if (one.statusAt !== other.statusAt) return Date.parse(one.statusAt) > Date.parse(other.statusAt);
  return Buffer.compare(Buffer.from(one.taskId), Buffer.from(other.taskId)) > 0;
}

const placeOf = ({ head, taskId }: ListedTask): Place => ({ statusAt: head.statusAt, taskId });
