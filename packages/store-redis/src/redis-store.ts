import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { takeFrom } from './buckets.ts';
import { OpenCalls } from './calls/open-calls.ts';
import { retryRead } from './calls/retry-read.ts';
import { Subscribers } from './calls/subscribers.ts';
import type { RedisDriver } from './connection/driver.ts';
import type { ClientOptions } from './connection/first-server.ts';
import { nodeRedis } from './connection/node-redis.ts';
import { Database } from './database/database.ts';
import { probe } from './database/probe.ts';
import { Commits } from './tasks/commits.ts';
import { Facts } from './tasks/facts.ts';
import { Leases } from './tasks/leases.ts';
import { prune } from './tasks/prune.ts';
import { TaskList } from './tasks/task-list.ts';
import { Deliveries } from './webhooks/deliveries.ts';
import { PushConfigs } from './webhooks/push-configs.ts';

export interface RedisStoreOptions {
  /**
   * `redis://user:password@host:6379/0`, or `rediss:` for TLS. Of a Cluster, any node; several, if some may be down.
   * Default `redis://127.0.0.1:6379`.
   */
  readonly url?: string | readonly string[];
  /** More options of node-redis for each connection: certificates, a credentials provider. */
  readonly client?: ClientOptions;
  /** Another Redis client than node-redis, instead of `url` and `client`. It is closed with the store. */
  readonly driver?: RedisDriver;
  /** What all keys begin with, without braces: stores of different prefixes share a Redis. Default `baton`. */
  readonly prefix?: string;
  /**
   * Into how many parts tasks are divided, 1 to 1,024. Each is served by one node of a Cluster, and each costs lists
   * and claims a command. Stored when tasks are first kept and never changed. Default 16 on a Cluster, otherwise 1.
   */
  readonly shards?: number;
  /** How long Redis may take to answer before a call rejects with `UNAVAILABLE`, in milliseconds. Default 4,000. */
  readonly timeoutMs?: number;
  /** Use a Redis that may evict any key when its memory is full, and lose tasks by it. Default false. */
  readonly allowEviction?: boolean;
}

/**
 * Tasks in Redis 6.2 or newer, in Valkey, or in Redis Cluster, for any number of processes on any number of machines.
 * It connects by itself and connects anew; while Redis cannot be reached, calls reject with code `UNAVAILABLE` in
 * bounded time. A Redis that is too old, may evict tasks, or keeps them in another number of shards makes calls reject
 * with code `UNUSABLE`. What a commit survives is a setting of Redis: see `appendfsync` in the README.
 */
export function redisStore(redis: string | RedisStoreOptions = {}): TaskStore & PushConfigStore {
  const options = typeof redis === 'string' ? { url: redis } : redis;
  const { url = 'redis://127.0.0.1:6379', client, prefix = 'baton', shards, timeoutMs = 4_000 } = options;
  if (/[{}]/.test(prefix)) throw new StoreError('UNUSABLE', 'The prefix of keys cannot contain braces');
  const urls = typeof url === 'string' ? [url] : url;
  const driver = options.driver ?? nodeRedis({ urls, client, timeoutMs });
  const database = new Database(driver, { prefix, shards, allowEviction: options.allowEviction ?? false });
  const commits = new Commits(database);
  const facts = new Facts(database);
  const tasks = new TaskList(database);
  const leases = new Leases(database);
  const pushConfigs = new PushConfigs(database);
  const deliveries = new Deliveries(database);
  const subscribers = new Subscribers();
  const calls = new OpenCalls();
  let listening: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const read = <T>(ask: () => Promise<T>): Promise<T> => calls.pass(() => retryRead(ask));

  async function listen(): Promise<void> {
    const { all } = await database.shards();
    const channels = all.map(({ channel }) => channel);
    await driver.subscribe(
      channels,
      (message) => subscribers.receive(message),
      () => subscribers.notifyAll(),
    );
  }

  return {
    schedules: shards === undefined || shards === 1,

    commit: (commit) => calls.pass(() => commits.write(commit)),
    load: (scope, taskId) => read(() => facts.load(scope, taskId)),
    readFacts: (scope, taskId, after, limit, lastCommitId) =>
      read(() => facts.read(scope, taskId, after, limit, lastCommitId)),
    list: (scope, query) => read(() => tasks.list(scope, query)),

    subscribe: (topic, notify) =>
      calls.pass(async () => {
        const unsubscribe = subscribers.add(topic, notify);
        try {
          listening ??= listen();
          await listening;
        } catch (error) {
          listening = undefined;
          unsubscribe();
          throw error;
        }
        return unsubscribe;
      }),

    claim: (request) => calls.pass(() => leases.claim(request)),
    renew: (held, ttlMs) => calls.pass(() => leases.renew(held, ttlMs)),
    waiting: (queue) => read(() => leases.waiting(queue)),
    lease: (scope, taskId) => read(() => leases.read(scope, taskId)),
    prune: ({ closedBefore, limit }) => calls.pass(() => prune(database, closedBefore, limit)),

    take: (bucket, rate) => calls.pass(() => takeFrom(database, bucket, rate)),
    probe: () => calls.pass(() => probe(database)),
    ping: () => read(async () => void (await database.identity())),
    identity: () => read(() => database.identity()),

    close() {
      closing ??= calls.close().then(() => driver.close());
      return closing;
    },

    putPushConfig: (push, atMost) => calls.pass(() => pushConfigs.put(push, atMost)),
    getPushConfig: (scope, taskId, id) => read(() => pushConfigs.get(scope, taskId, id)),
    listPushConfigs: (scope, taskId, page) => read(() => pushConfigs.list(scope, taskId, page)),
    removePushConfig: (scope, taskId, id) => calls.pass(() => pushConfigs.remove(scope, taskId, id)),
    claimDeliveries: (request) => calls.pass(() => deliveries.claim(request)),
    advance: (delivery, outcome) => calls.pass(() => deliveries.advance(delivery, outcome)),
    retryNow: (webhooks) => calls.pass(() => deliveries.retryNow(webhooks)),
    listDead: (queue, { limit }) => read(() => pushConfigs.dead(queue, limit)),
    revive: (scope, taskId, id) => calls.pass(() => pushConfigs.revive(scope, taskId, id)),
  };
}
