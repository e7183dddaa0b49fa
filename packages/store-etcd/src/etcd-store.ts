import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { completeOptions, createStore, type Rows, type Wanted } from '@batonjs/store/adapter';
import { Cluster, writeGroups } from './cluster/cluster.ts';
import { connectionsTo, type EtcdTls } from './cluster/connections.ts';
import { clusterClock } from './layout/cluster-clock.ts';
import { identityOf, type Keys, keysOf, unchanged } from './layout/keys.ts';
import { everyTask, readFacts, readLog } from './logs/logs.ts';
import { listTasks } from './logs/task-list.ts';
import { wakeupsOf, watchesOf } from './notifications/watches.ts';
import { bucketsOf } from './rows/buckets.ts';
import { Changes, freeze, mustTakeWrites } from './rows/changes.ts';
import { Reader } from './rows/reader.ts';
import { Look } from './rows/records.ts';
import { Searches } from './rows/searches.ts';

const etcdOptions = {
  /** What all keys of the store begin with, 1 to 256 characters without a slash at the end. Default `baton`. */
  prefix: 'baton',
  /**
   * How long a call may take in all, in milliseconds. Members that do not answer within a quarter of it are given up for
   * another one. Default 5,000: longer than the members take to elect a leader.
   */
  timeoutMs: 5_000,
  /** Certificates in PEM, for URLs with `https`. Without `ca`, those of Node.js. */
  tls: undefined as EtcdTls | undefined,
  /** Called after each transaction that writes, with its number of writes. */
  onGroup: undefined as ((size: number) => void) | undefined,
};

export type EtcdStoreOptions = {
  readonly [Name in keyof typeof etcdOptions]?: (typeof etcdOptions)[Name] | undefined;
};

/**
 * Tasks in an etcd cluster (3.4 or newer), for any number of processes and machines. `urls`: of all members
 * (`http://host:2379`); a user and a password in the first one log in to etcd. Throws a `StoreError` of code `UNUSABLE`
 * for options that cannot be used; calls reject with it for keys of another layout.
 */
export function etcdStore(
  urls: readonly string[],
  options: EtcdStoreOptions = {},
): TaskStore & PushConfigStore {
  const { prefix, timeoutMs, tls, onGroup } = completeOptions(etcdOptions, options);
  if (prefix === '' || prefix.length > 256 || prefix.endsWith('/'))
    throw new StoreError('UNUSABLE', 'The prefix of keys has 1 to 256 characters and ends without a slash');
  const connections = connectionsTo(urls, tls);
  const cluster = new Cluster(connections, timeoutMs);
  return createStore(connections.name, etcdRows(cluster, keysOf(prefix), onGroup));
}

/** The rows of an etcd cluster. `onGroup`: called after each transaction that writes, with its number of writes. */
export function etcdRows(cluster: Cluster, keys: Keys, onGroup: ((size: number) => void) | undefined): Rows {
  const { connections, timeoutMs } = cluster;
  const db = { cluster, keys, clock: clusterClock(cluster, keys.clock) };
  const groups = writeGroups(cluster, keys.probe, onGroup);
  const watches = watchesOf(connections, timeoutMs);
  const wakeups = wakeupsOf(keys, watches);
  const reader = new Reader(db);
  const searches = new Searches(db, reader);
  const buckets = bucketsOf(db);
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
