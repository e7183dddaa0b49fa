import {
  type ClaimRequest,
  claimed,
  type Lease,
  type LeaseReading,
  leaseReading,
  type Scope,
} from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import type { WriteGroups, Written } from '../cluster/write-groups.ts';
import type { ClusterClock } from '../layout/cluster-clock.ts';
import { digestOf } from '../layout/digest.ts';
import { inside, insideUntil, type Keys, lastPart } from '../layout/keys.ts';
import type { RangeRequest, RangeResponse } from '../wire/messages.ts';
import { knownOf, readsOf, readTasks, unchanged } from './known-tasks.ts';
import type { Lanes } from './lanes.ts';
import { QueueFronts } from './queue-fronts.ts';
import type { KnownTask, TaskCache } from './task-cache.ts';
import { moves } from './task-indexes.ts';
import { sinceOf, type TaskRow, taskRowOf, turnValue } from './task-row.ts';

export interface LeasesOptions {
  readonly cluster: Cluster;
  readonly keys: Keys;
  readonly clock: ClusterClock;
  readonly groups: WriteGroups;
  readonly cache: TaskCache;
  readonly lanes: Lanes;
}

/** How many tasks are read and written at once. */
const atOnce = 100;

/** Grants and renews leases. */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #fronts = new QueueFronts();

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  async claim(request: ClaimRequest): Promise<Lease[]> {
    await this.#options.clock.follow();
    const leases: Lease[] = [];
    // Tasks that were granted, or that this claim cannot have.
    const done = new Set<string>();
    for (let window = Math.min(atOnce, request.limit); ; ) {
      const { tasks, isAll } = await this.#find(request, window);
      const candidates = tasks.filter((task) => !done.has(task)).slice(0, request.limit - leases.length);
      const known = await readTasks(this.#options, candidates);
      const granted = await Promise.all(known.map((one, n) => this.#grant(candidates[n]!, one, request)));
      for (const [n, lease] of granted.entries()) {
        // Another process was faster: the next look shows whether this one can still be had.
        if (lease === 'conflict') continue;
        done.add(candidates[n]!);
        if (lease) leases.push(lease);
      }
      if (leases.length >= request.limit || candidates.length === 0) return leases;
      if (granted.includes('conflict')) continue;
      if (isAll && tasks.every((task) => done.has(task))) return leases;
      if (tasks.every((task) => done.has(task))) window *= 2;
    }
  }

  /** The tasks that a claim may have, in the order in which it takes them; `isAll`: there are no others. */
  async #find(request: ClaimRequest, limit: number): Promise<{ tasks: string[]; isAll: boolean }> {
    const { cluster, clock, keys } = this.#options;
    const { queue, holder, taskId, scope } = request;
    const wanted = keys.wanted(queue);
    const ranges: RangeRequest[] = [inside(keys.heldBy(holder))];
    if (taskId !== undefined) {
      if (scope === undefined) ranges.push(inside(keys.named(taskId)));
    } else
      ranges.push(
        this.#fronts.range(wanted),
        insideUntil(keys.later(queue, 'due'), Date.now()),
        insideUntil(keys.later(queue, 'held'), clock.now()),
      );
    const isByTime = taskId === undefined;
    const [held, ...others] = await cluster.read(
      ranges.map((range) => ({ ...range, limit: isByTime ? limit : undefined, keysOnly: true })),
    );
    if (isByTime) {
      const { kvs, count = 0 } = others[0]!;
      if (this.#fronts.forgetIfShort(wanted, kvs.length, limit)) return this.#find(request, limit);
      const front = this.#fronts.rangeToFind(wanted, count);
      if (front) this.#fronts.remember(wanted, (await cluster.read([front]))[0]!.kvs);
    }
    const found = isByTime
      ? oldestFirst(others, [Date.now(), Date.now(), clock.now()])
      : others.flatMap(({ kvs }) => kvs.map(({ key }) => lastPart(key)));
    if (taskId !== undefined && scope !== undefined) found.push(digestOf(scope, taskId));
    const isAll = !isByTime || others.every(({ kvs }) => kvs.length < limit);
    const own = held!.kvs.map(({ key }) => lastPart(key));
    return { tasks: [...new Set([...own, ...found])], isAll };
  }

  async #grant(
    task: string,
    known: KnownTask,
    request: ClaimRequest,
  ): Promise<Lease | 'conflict' | undefined> {
    const { clock } = this.#options;
    const before = known.task;
    if (!before || (request.taskId !== undefined && before.taskId !== request.taskId)) return undefined;
    if (request.taskId !== undefined && request.scope !== undefined && before.scope !== request.scope)
      return undefined;
    const claim = claimed(before.row, request, Date.now(), clock.now());
    if (!claim) return undefined;
    const { row, cause } = claim;
    const { succeeded } = await this.#writeTurn(task, known, { ...before, row });
    if (!succeeded) return 'conflict';
    const { scope, taskId } = before;
    return { scope, taskId, queue: request.queue, holder: request.holder, fence: row.fence, cause };
  }

  /** Writes the turn of a task, if no other process wrote it. */
  async #writeTurn(task: string, known: KnownTask, changed: TaskRow): Promise<Written> {
    const { cache, groups, keys } = this.#options;
    const before = known.task!;
    const after = { ...changed, since: sinceOf(changed.row, before.since, Date.now()), commitId: undefined };
    const written = await groups
      .run({
        task,
        compare: [unchanged(keys.turn(task), before.turnRevision)],
        writes: [
          ...moves(keys, task, before, after),
          { put: { key: keys.turn(task), value: turnValue(after) } },
        ],
        reads: readsOf(keys, task),
      })
      .catch((error: unknown) => {
        cache.forget(task);
        throw error;
      });
    const { succeeded, revision, reads } = written;
    cache.set(task, succeeded ? { ...known, task: { ...after, turnRevision: revision } } : knownOf(reads));
    return written;
  }

  /** Extends the leases that are still held to `ttlMs` from now and returns them. */
  async renew(leases: readonly Lease[], ttlMs: number): Promise<Lease[]> {
    if (leases.length === 0) return [];
    const { cache, clock, lanes } = this.#options;
    await clock.follow();
    const tasks = leases.map(({ scope, taskId }) => digestOf(scope, taskId));
    const unknown = [...new Set(tasks)].filter((task) => !cache.get(task));
    const read = await readTasks(this.#options, unknown);
    const known = new Map(unknown.map((task, n) => [task, read[n]!]));
    const renewed = await Promise.all(
      leases.map((lease, n) => {
        const task = tasks[n]!;
        return lanes.run(task, () => this.#renew(task, cache.get(task) ?? known.get(task), lease, ttlMs));
      }),
    );
    return leases.filter((_, n) => renewed[n]);
  }

  async #renew(
    task: string,
    remembered: KnownTask | undefined,
    { holder, fence }: Lease,
    ttlMs: number,
  ): Promise<boolean> {
    const { cache, clock } = this.#options;
    let known = remembered;
    // The second look is at what etcd holds, and only other processes' claims and commits make a third necessary.
    for (let isFresh = false; ; isFresh = true) {
      if (!known) [known] = await readTasks(this.#options, [task]);
      const row = known!.task?.row;
      if (!row || row.head.closed || row.holder !== holder || row.fence !== fence) {
        if (isFresh) return false;
        known = undefined;
        continue;
      }
      const after = { ...known!.task!, row: { ...row, leaseUntil: clock.now() + ttlMs } };
      const { succeeded } = await this.#writeTurn(task, known!, after);
      if (succeeded) return true;
      known = cache.get(task);
    }
  }

  async read(scope: Scope, taskId: string): Promise<LeaseReading | undefined> {
    const { cluster, keys } = this.#options;
    const task = digestOf(scope, taskId);
    const [log, turn] = await cluster.read([{ key: keys.log(task) }, { key: keys.turn(task) }]);
    const found = taskRowOf(log!.kvs[0], turn!.kvs[0]);
    return found && leaseReading(found.row);
  }
}

/** The tasks in keys that end with a time and a task. `now`: the time of the clock that the keys of each range go by. */
function oldestFirst(ranges: readonly RangeResponse[], now: readonly number[]): string[] {
  return ranges
    .flatMap(({ kvs }, n) =>
      kvs.map(({ key }) => {
        const [time, task] = String(key).split('/').slice(-2);
        return { task: task!, ageMs: now[n]! - Number(time) };
      }),
    )
    .sort((a, b) => b.ageMs - a.ageMs || (a.task < b.task ? -1 : 1))
    .map(({ task }) => task);
}
