import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { Buckets } from './buckets/buckets.ts';
import { Cluster } from './cluster/cluster.ts';
import { Connections, type EtcdTls } from './cluster/connections.ts';
import { WriteGroups } from './cluster/write-groups.ts';
import { ClusterClock } from './layout/cluster-clock.ts';
import { Keys } from './layout/keys.ts';
import { identityOf } from './layout/meta.ts';
import { Parts } from './layout/parts.ts';
import { Wakeups } from './notifications/wakeups.ts';
import { Watches } from './notifications/watches.ts';
import { OpenCalls } from './open-calls.ts';
import { Commits } from './tasks/commits.ts';
import { Facts } from './tasks/facts.ts';
import { Lanes } from './tasks/lanes.ts';
import { Leases } from './tasks/leases.ts';
import { prepareCommit } from './tasks/prepared-commit.ts';
import { Prune } from './tasks/prune.ts';
import { TaskCache } from './tasks/task-cache.ts';
import { TaskList } from './tasks/task-list.ts';
import { WaitingCounts } from './tasks/waiting-counts.ts';
import { Deliveries } from './webhooks/deliveries.ts';
import { PushConfigs } from './webhooks/push-configs.ts';
import { PushRows } from './webhooks/push-rows.ts';

export interface EtcdStoreOptions {
  /** What all keys of the store begin with, 1 to 256 characters without a slash at the end. Default `baton`. */
  readonly prefix?: string;
  /**
   * How long a call may take in all, in milliseconds. Members that do not answer within a quarter of it are given up for
   * another one. Default 5,000: longer than the members take to elect a leader.
   */
  readonly timeoutMs?: number;
  /** Certificates in PEM, for URLs with `https`. Without `ca`, those of Node.js. */
  readonly tls?: EtcdTls;
  /** Called after each transaction that writes, with its number of writes. */
  readonly onGroup?: (size: number) => void;
}

/**
 * Tasks in an etcd cluster (3.4 or newer), for any number of processes and machines. `urls`: of all members
 * (`http://host:2379`); a user and a password in the first one log in to etcd. Throws a `StoreError` of code `UNUSABLE`
 * for options that cannot be used; calls reject with it for keys of a newer release.
 */
export function etcdStore(
  urls: readonly string[],
  { prefix = 'baton', timeoutMs = 5_000, tls, onGroup }: EtcdStoreOptions = {},
): TaskStore & PushConfigStore {
  if (prefix === '' || prefix.length > 256 || prefix.endsWith('/'))
    throw new StoreError('UNUSABLE', 'The prefix of keys has 1 to 256 characters and ends without a slash');
  const connections = new Connections(urls, tls);
  const cluster = new Cluster(connections, timeoutMs);
  const keys = new Keys(prefix);
  const clock = new ClusterClock(cluster, keys.clock);
  const groups = new WriteGroups(cluster, keys.probe, onGroup);
  const watches = new Watches(connections, timeoutMs);
  const wakeups = new Wakeups(keys, watches);
  const parts = new Parts(cluster, keys);
  const shared = { cluster, keys, clock, groups, parts, wakeups, cache: new TaskCache(), lanes: new Lanes() };
  const waiting = new WaitingCounts(cluster, keys);
  const rows = new PushRows(shared);
  const commits = new Commits({ ...shared, waiting, rows });
  const leases = new Leases(shared);
  const facts = new Facts(cluster, keys, parts);
  const tasks = new TaskList(cluster, keys, facts);
  const prune = new Prune(shared);
  const pushConfigs = new PushConfigs(cluster, keys, rows);
  const deliveries = new Deliveries(cluster, keys, clock, rows);
  const buckets = new Buckets(cluster, keys, clock);
  const calls = new OpenCalls(connections.name);
  let identity: Promise<string> | undefined;
  let closing: Promise<void> | undefined;

  function started(): Promise<string> {
    identity ??= identityOf(cluster, keys.meta).catch((error: unknown) => {
      // The next call tries again.
      identity = undefined;
      throw error;
    });
    return identity;
  }

  const call = <T>(work: () => Promise<T>): Promise<T> =>
    calls.pass(async () => {
      await started();
      return work();
    });

  return {
    commit(commit) {
      const prepared = prepareCommit(commit);
      return call(() => commits.run(prepared));
    },
    load: (scope, taskId) => call(() => facts.load(scope, taskId)),
    readFacts: (scope, taskId, after, limit, lastCommitId) =>
      call(() => facts.read(scope, taskId, after, limit, lastCommitId)),
    list: (scope, query) => call(() => tasks.list(scope, query)),
    subscribe: (topic, notify) => call(() => wakeups.subscribe(topic, notify)),
    claim: (request) => call(() => leases.claim(request)),
    renew: (held, ttlMs) => call(() => leases.renew(held, ttlMs)),
    lease: (scope, taskId) => call(() => leases.read(scope, taskId)),
    waiting: (queue, atMost) => call(() => waiting.of(queue, atMost)),
    prune: ({ closedBefore, limit }) => call(() => prune.delete(closedBefore, limit)),
    take: (bucket, rate) => call(() => buckets.take(bucket, rate)),
    // Read anew each time: the data may have been emptied or replaced since this process started.
    identity: () => call(() => identityOf(cluster, keys.meta)),

    probe: () =>
      call(async () => {
        // Sent twice, it does the same.
        await cluster.transact({ success: [{ put: { key: keys.probe, value: '' } }] });
      }),

    ping: () => call(async () => void (await cluster.read([{ key: keys.meta }]))),

    close() {
      closing ??= (async () => {
        await Promise.all([calls.close(), buckets.close()]);
        watches.close();
        connections.close();
      })();
      return closing;
    },

    putPushConfig: (push, atMost) => call(() => pushConfigs.put(push, atMost)),
    getPushConfig: (scope, taskId, id) => call(() => pushConfigs.get(scope, taskId, id)),
    listPushConfigs: (scope, taskId, page) => call(() => pushConfigs.list(scope, taskId, page)),
    removePushConfig: (scope, taskId, id) => call(() => pushConfigs.remove(scope, taskId, id)),
    claimDeliveries: (request) => call(() => deliveries.claim(request)),
    advance: (delivery, outcome) => call(() => deliveries.advance(delivery, outcome)),
    retryNow: (webhooks) => call(() => deliveries.retryNow(webhooks)),
    listDead: (queue, { limit }) => call(() => pushConfigs.dead(queue, limit)),
    revive: (scope, taskId, id) => call(() => pushConfigs.revive(scope, taskId, id)),
  };
}
