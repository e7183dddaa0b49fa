import type { Cluster } from '../cluster/cluster.ts';
import type { WriteGroups } from '../cluster/write-groups.ts';
import { inside, type Keys, lastPart } from '../layout/keys.ts';
import { timeIn } from '../layout/order.ts';
import { isBehind, pushWrites } from '../webhooks/push-row.ts';
import type { RequestOp } from '../wire/messages.ts';
import { readTasks, unchanged } from './known-tasks.ts';
import type { KnownTask, TaskCache } from './task-cache.ts';
import { moves } from './task-indexes.ts';

/** How many logs are deleted at once: other writers run in between. */
const atOnce = 16;

export interface PruneOptions {
  readonly cluster: Cluster;
  readonly keys: Keys;
  readonly groups: WriteGroups;
  readonly cache: TaskCache;
}

/** Deletes old logs. */
export class Prune {
  readonly #options: PruneOptions;

  constructor(options: PruneOptions) {
    this.#options = options;
  }

  /** Resolves to the number of deleted logs. */
  async delete(closedBefore: string, limit: number): Promise<number> {
    const { cluster, keys } = this.#options;
    const rangeEnd = `${keys.closed}${timeIn(Date.parse(closedBefore))}`;
    let deleted = 0;
    for (let key = keys.closed; deleted < limit; ) {
      const most = Math.min(atOnce, limit - deleted);
      const [range] = await cluster.read([{ key, rangeEnd, limit: most, keysOnly: true }]);
      const found = range!.kvs.map((kept) => String(kept.key));
      const tasks = found.map(lastPart);
      const known = await readTasks(this.#options, tasks);
      const done = await Promise.all(known.map((one, n) => this.#delete(tasks[n]!, one)));
      deleted += done.filter(Boolean).length;
      if (found.length < most) break;
      key = `${found.at(-1)}\0`;
    }
    return deleted;
  }

  async #delete(task: string, { task: row, pushes }: KnownTask): Promise<boolean> {
    const { cache, groups, keys } = this.#options;
    if (!row || pushes?.webhooks.some((webhook) => isBehind(webhook, row.row.version))) return false;
    // Deletions only: etcd takes them even when its quota is used up.
    const writes: RequestOp[] = [
      ...[keys.log(task), keys.turn(task), keys.snapshot(task)].map((key) => ({ delete: { key } })),
      ...[keys.facts(task), keys.parts(task), keys.allOnce(task), keys.configs(task)].map((folder) => ({
        delete: inside(folder),
      })),
      ...moves(keys, task, row, undefined),
      ...(pushes ? pushWrites(keys, task, pushes.webhooks, { ...pushes, webhooks: [] }) : []),
    ];
    const compare = [
      unchanged(keys.log(task), row.logRevision),
      unchanged(keys.pushes(task), pushes?.revision ?? 0),
    ];
    const { succeeded, isRepeated } = await groups.run({ task, compare, writes, reads: [] });
    if (succeeded) cache.forget(task);
    // A closed log is changed by nothing but its deletion.
    return succeeded || isRepeated;
  }
}
