import type { Scope } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import type { WriteGroups } from '../cluster/write-groups.ts';
import type { ClusterClock } from '../layout/cluster-clock.ts';
import { digestOf } from '../layout/digest.ts';
import type { Keys } from '../layout/keys.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import type { Compare } from '../wire/messages.ts';
import { type PushRow, planned, pushRowOf, pushWrites, queuesToNotify, type Webhook } from './push-row.ts';

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

const unchanged = (key: string, modRevision: number): Compare => ({ result: 0, target: 2, key, modRevision });

/** Reads and changes webhooks. */
export class PushRows {
  readonly #options: PushRowsOptions;

  constructor(options: PushRowsOptions) {
    this.#options = options;
  }

  async read(scope: Scope, taskId: string): Promise<PushRow | undefined> {
    const { cluster, keys } = this.#options;
    const [range] = await cluster.read([{ key: keys.pushes(digestOf(scope, taskId)) }]);
    return pushRowOf(range!.kvs[0]);
  }

  /** The webhooks of tasks, by their digests. Those without any are left out. */
  async readAll(tasks: readonly string[]): Promise<PushRow[]> {
    const { cluster, keys } = this.#options;
    const ranges = await cluster.read(tasks.map((task) => ({ key: keys.pushes(task) })));
    return ranges.flatMap(({ kvs }) => pushRowOf(kvs[0]) ?? []);
  }

  /**
   * Changes the webhooks of a task. `change` is called again if others wrote meanwhile. Resolves whether it changed
   * anything.
   */
  async change(scope: Scope, taskId: string, change: Change): Promise<boolean> {
    const { cluster, groups, keys, wakeups } = this.#options;
    const task = digestOf(scope, taskId);
    const reads = [{ key: keys.log(task) }, { key: keys.pushes(task) }];
    let ranges = await cluster.read(reads);
    for (;;) {
      const [log, kept] = ranges.map(({ kvs }) => kvs[0]);
      const row = pushRowOf(kept) ?? { scope, taskId, webhooks: [], revision: 0 };
      const version = log ? Number(JSON.parse(String(log.value)).version) : 0;
      const changed = change({ row, version });
      if (!changed) return false;
      const now = Date.now();
      const webhooks = planned(changed, version, now);
      const written = await groups.run({
        task,
        // A commit that makes the log longer must not pass unseen: it may leave it to this write to plan the delivery.
        compare: [
          unchanged(keys.log(task), log?.modRevision ?? 0),
          unchanged(keys.pushes(task), row.revision),
        ],
        writes: pushWrites(keys, task, row.webhooks, { scope, taskId, webhooks }),
        reads,
        bytes: 1_000 * webhooks.length,
      });
      if (written.succeeded) {
        for (const queue of queuesToNotify(webhooks, now)) wakeups.announceQueue(queue, written.revision);
        return true;
      }
      ranges = written.reads;
    }
  }
}
