import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { completeOptions, createStore } from '@batonjs/store/adapter';
import { Cluster } from './cluster/cluster.ts';
import { Connections, type EtcdTls } from './cluster/connections.ts';
import { etcdRows } from './etcd-rows.ts';
import { keysOf } from './layout/keys.ts';

/** The options, with their defaults. */
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
  const connections = new Connections(urls, tls);
  const cluster = new Cluster(connections, timeoutMs);
  return createStore(connections.name, etcdRows(cluster, keysOf(prefix), onGroup));
}
