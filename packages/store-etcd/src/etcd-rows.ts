import type { Rows, Wanted } from '@batonjs/store/adapter';
import type { Cluster } from './cluster/cluster.ts';
import { WriteGroups } from './cluster/write-groups.ts';
import { ClusterClock } from './layout/cluster-clock.ts';
import { type Keys, unchanged } from './layout/keys.ts';
import { identityOf } from './layout/meta.ts';
import { everyTask } from './logs/every-task.ts';
import { readFacts, readLog } from './logs/logs.ts';
import { listTasks } from './logs/task-list.ts';
import { Wakeups } from './notifications/wakeups.ts';
import { Watches } from './notifications/watches.ts';
import { Buckets } from './rows/buckets.ts';
import { Changes } from './rows/changes.ts';
import { freeze, mustTakeWrites } from './rows/freeze.ts';
import { Look } from './rows/look.ts';
import { Reader } from './rows/reader.ts';
import { Searches } from './rows/searches.ts';

/** The rows of an etcd cluster. `onGroup`: called after each transaction that writes, with its number of writes. */
export function etcdRows(cluster: Cluster, keys: Keys, onGroup: ((size: number) => void) | undefined): Rows {
  const { connections, timeoutMs } = cluster;
  const db = { cluster, keys, clock: new ClusterClock(cluster, keys.clock) };
  const groups = new WriteGroups(cluster, keys.probe, onGroup);
  const watches = new Watches(connections, timeoutMs);
  const wakeups = new Wakeups(keys, watches);
  const reader = new Reader(db);
  const searches = new Searches(db, reader);
  const buckets = new Buckets(db);
  const changes = new Changes({ db, groups, reader, searches, buckets, wakeups });
  let started: Promise<string> | undefined;

  /** Looks at the layout of the keys before the first call. */
  async function call<T>(work: () => Promise<T>): Promise<T> {
    started ??= identityOf(cluster, keys).catch((error: unknown) => {
      // The next call tries again.
      started = undefined;
      throw error;
    });
    await started;
    return work();
  }

  const find = (wanted: Wanted) =>
    wanted.tasks || wanted.records ? reader.whole(wanted) : searches.find(wanted, new Look());

  return {
    system: 'etcd',
    encode: JSON.stringify,
    read: (wanted) => call(async () => find(wanted)),
    change: (step) => call(() => changes.run(step)),
    log: (scope, taskId) => call(() => readLog(db, scope, taskId)),
    facts: (scope, taskId, after, limit) => call(() => readFacts(db, scope, taskId, after, limit)),
    page: (scope, query) => call(() => listTasks(db, scope, query)),
    every: (from, limit) => call(() => everyTask(db, from, limit)),
    freeze: (ms) => call(() => freeze(db, ms)),
    subscribe: (topic, notify) => call(() => wakeups.subscribe(topic, notify)),
    // Read again each time: the data may have been emptied or replaced since this process started.
    identity: () => call(() => identityOf(cluster, keys)),
    // Sent twice, it does the same.
    probe: () =>
      call(async () => {
        const { responses } = await cluster.transact({
          compare: [unchanged(keys.frozen, 0)],
          success: [{ put: { key: keys.probe, value: '' } }],
          failure: [{ range: { key: keys.frozen } }],
        });
        mustTakeWrites(cluster, responses[0]?.range);
      }),
    ping: () => call(async () => void (await cluster.get(keys.meta))),
    async close() {
      watches.close();
      connections.close();
    },
  };
}
