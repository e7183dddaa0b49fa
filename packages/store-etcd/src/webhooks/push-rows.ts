import type { PushConfig, Scope } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import type { WriteGroups } from '../cluster/write-groups.ts';
import type { ClusterClock } from '../layout/cluster-clock.ts';
import { digestOf } from '../layout/digest.ts';
import type { Keys } from '../layout/keys.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import type { Compare } from '../wire/messages.ts';
import { configDeletions, type InRow, pushConfigsOf, separated } from './large-configs.ts';
import {
  mustFit,
  type PushRow,
  planned,
  pushPut,
  pushRowOf,
  pushWrites,
  queuesToNotify,
  type Webhook,
} from './push-row.ts';

export interface PushRowsOptions {
  readonly cluster: Cluster;
  readonly keys: Keys;
  readonly clock: ClusterClock;
  readonly groups: WriteGroups;
  readonly wakeups: Wakeups;
}

/** The webhooks of a task and the length of its log. */
export interface FoundPushes {
  readonly row: PushRow;
  readonly version: number;
}

/** What a change makes of the webhooks of a task; undefined: nothing. */
type Change = (found: FoundPushes) => readonly Webhook[] | undefined;

/**
 * Rows that are larger than this, in bytes, may have large configs inside, as a release before this one wrote them.
 * Such a row leaves little room for a commit beside it, or none.
 */
const mayHoldConfigs = 64 * 1024;

const unchanged = (key: string, modRevision: number): Compare => ({ result: 0, target: 2, key, modRevision });

/** Reads and changes webhooks. */
export class PushRows {
  readonly #options: PushRowsOptions;

  constructor(options: PushRowsOptions) {
    this.#options = options;
  }

  /** Those webhooks of a task that `pick` leaves, in its order. */
  async read(
    scope: Scope,
    taskId: string,
    pick: (webhooks: readonly Webhook[]) => readonly Webhook[],
  ): Promise<PushConfig[]> {
    const task = digestOf(scope, taskId);
    for (let revision: number | undefined; ; ) {
      const [row] = await this.readAll([task]);
      if (!row) return [];
      const picked = pick(row.webhooks).map((webhook) => ({ row, webhook }));
      const found = (await this.configsOf(picked)).flatMap((push) => push ?? []);
      if (found.length === picked.length || row.revision === revision) return found;
      // The row was written in between.
      revision = row.revision;
    }
  }

  /** Webhooks as they were registered. Undefined: it was replaced or removed since its row was read. */
  configsOf(found: readonly InRow[]): Promise<(PushConfig | undefined)[]> {
    const { cluster, keys } = this.#options;
    return pushConfigsOf(cluster, keys, found);
  }

  /** The webhooks of tasks, by their digests. Those without any are left out. */
  async readAll(tasks: readonly string[]): Promise<PushRow[]> {
    const { cluster, keys } = this.#options;
    const ranges = await cluster.read(tasks.map((task) => ({ key: keys.pushes(task) })));
    return ranges.flatMap(({ kvs }) => pushRowOf(kvs[0]) ?? []);
  }

  /**
   * Changes the webhooks of a task. `change` is called again if others wrote meanwhile. Resolves whether it changed
   * anything. `isPut`: it may make them larger, and rejects with code `INVALID_COMMIT` if they do not fit.
   */
  async change(scope: Scope, taskId: string, change: Change, isPut = false): Promise<boolean> {
    const { cluster, groups, keys, wakeups } = this.#options;
    const task = digestOf(scope, taskId);
    const reads = [{ key: keys.log(task) }, { key: keys.pushes(task) }];
    let ranges = await cluster.read(reads);
    for (;;) {
      const [log, kept] = ranges.map(({ kvs }) => kvs[0]);
      const row = pushRowOf(kept) ?? { scope, taskId, webhooks: [], revision: 0, bytes: 0 };
      if (this.isLarge(row) && (await this.shrink(task, row))) {
        ranges = await cluster.read(reads);
        continue;
      }
      const version = log ? Number(JSON.parse(String(log.value)).version) : 0;
      const changed = change({ row, version });
      if (!changed) return false;
      const now = Date.now();
      const { webhooks, configs } = separated(keys, task, planned(changed, version, now));
      if (isPut) mustFit(keys, task, { scope, taskId, webhooks });
      const written = await groups.run({
        task,
        // A commit that makes the log longer must not pass unseen: it may leave it to this write to plan the delivery.
        compare: [
          unchanged(keys.log(task), log?.modRevision ?? 0),
          unchanged(keys.pushes(task), row.revision),
        ],
        writes: [
          ...configs,
          ...configDeletions(keys, task, row.webhooks, webhooks),
          ...pushWrites(keys, task, row.webhooks, { scope, taskId, webhooks }),
        ],
        reads,
      });
      if (written.succeeded) {
        for (const queue of queuesToNotify(webhooks, now)) wakeups.announceQueue(queue, written.revision);
        return true;
      }
      ranges = written.reads;
    }
  }

  /** Whether `shrink` has something to do, perhaps. */
  isLarge({ bytes }: PushRow): boolean {
    return bytes > mayHoldConfigs;
  }

  /**
   * Gives large configs inside a row keys of their own, one after the other: together they may be as large as a request
   * may be. Resolves whether the row has to be read again.
   */
  async shrink(task: string, row: PushRow): Promise<boolean> {
    const { cluster, keys } = this.#options;
    const { webhooks, configs } = separated(keys, task, row.webhooks);
    if (configs.length === 0) return false;
    const compare = [unchanged(keys.pushes(task), row.revision)];
    for (const write of [...configs, pushPut(keys, task, { ...row, webhooks })])
      await cluster.transact({ compare, success: [write] });
    return true;
  }
}
